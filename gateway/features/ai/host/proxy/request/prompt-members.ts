/** Members of a request that a model reads, on every surface. */

/** Lists of messages: each element is one. */
export const MESSAGE_LISTS: readonly string[] = ['messages', 'input'];
export const OTHER_PROMPT_MEMBERS: readonly string[] = [
  ...['instructions', 'system', 'prompt', 'suffix', 'prediction', 'tools', 'functions'],
  ...['response_format', 'text', 'web_search_options'],
];
