/** The options of `gw serve`, for who starts gateways or describes how. */
export { longestDrain } from './drain-delay.ts';
export { describeOption } from './option-docs.ts';
export { flagName, type OptionEntry, type PodField } from './option-table.ts';
export { SERVE_OPTIONS } from './options.ts';
