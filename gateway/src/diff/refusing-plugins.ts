/** Middlewares of gw that may refuse a request that was accepted, besides those that authenticate. */
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

/** Middlewares of gw that do not refuse accepted requests, or only callers without credentials. */
const OTHER_BUILT_IN: ReadonlySet<string> = new Set([
  ...['ai-cache', 'cache', 'correlation-id', 'fire-and-forget', 'http-log', 'observability'],
  ...['request-transformer', 'response-transformer'],
  ...['apikey-auth', 'basic-auth', 'hmac-auth', 'jwt-auth', 'ldap-auth', 'mtls-auth', 'oauth2-auth', 'oidc-auth'],
]);

/** Reports whether a middleware's effects are unknown. */
export function isCustom(name: string): boolean {
  return !REFUSING.has(name) && !OTHER_BUILT_IN.has(name);
}

/** Without it browsers let no page of another origin read the answer. */
export const LETS_BROWSERS_IN = 'cors';
