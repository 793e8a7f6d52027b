/** Members of a request that a model reads, on every surface. */

/** Lists of messages: each element is one. */
export const SAID: readonly string[] = ['messages', 'input'];
export const BESIDE: readonly string[] = [
  ...['instructions', 'system', 'prompt', 'suffix', 'prediction', 'tools', 'functions'],
  ...['response_format', 'text', 'web_search_options'],
];
