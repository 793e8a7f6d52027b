/** The options of `gw serve`, for programs that start gateways or describe how. */
export { describeOption } from './option-docs.ts';
export { flagName, type OptionEntry, type PodField } from './option-table.ts';
export { longestDrain, SERVE_OPTIONS } from './options.ts';
