/** Which members of a request hold what a model is told, on every surface. */

/** Lists of what was said: each element is a message. */
export const SAID: readonly string[] = ['messages', 'input'];
export const BESIDE: readonly string[] = [
  ...['instructions', 'system', 'prompt', 'suffix', 'prediction', 'tools', 'functions'],
  ...['response_format', 'text', 'web_search_options'],
];
