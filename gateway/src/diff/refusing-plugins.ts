/** What of the middlewares that come with gw may refuse a request that was accepted, besides those that authenticate. */
export const REFUSING: ReadonlySet<string> = new Set([
  'acl',
  'ai-cost-tracker',
  'ai-prompt-guard',
  'ai-prompt-template',
  'ai-response-guard',
  'ai-token-limit',
  'bot-detection',
  'cel',
  'cors',
  'graphql',
  'ip-restriction',
  'rate-limit',
  'request-size-limit',
  'token-exchange',
]);

/** Without it browsers let no page of another origin read the answer. */
export const LETS_BROWSERS_IN = 'cors';
