/** Replacements of functions that languages offer elsewhere: sentences for the author of a plugin. */

export const LOG = 'A plugin has no console: log with host_log (Log of the SDK), and declare it in plugin.toml.';
export const CLOCK = 'The time is time_now (now() of the SDK).';
export const RANDOM = 'Random bytes are random_get (randomBytes of the SDK).';
export const CONFIG = 'Settings are in the config of the plugin: config_get (Config of the SDK).';
export const NOTHING_TO_AWAIT =
  'There is nothing to await: host calls, such as host_http_call (HttpCall of the SDK), return when they have their answer.';
export const STATE =
  'Memory is put back before every call to what init has left, and calls run in many instances: keep what belongs to a ' +
  'request with state_set (State of the SDK), and count over requests in the gateway, such as with host_rate_limit_take ' +
  '(RateLimit of the SDK).';
