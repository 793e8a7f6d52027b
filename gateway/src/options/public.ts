/** The options of `gw serve`, for who starts gateways or describes how. */
export { describeOption } from './option-docs.ts';
export { flagName, type OptionEntry, type PodField } from './option-table.ts';
export { longestDrain, SERVE_OPTIONS } from './options.ts';
