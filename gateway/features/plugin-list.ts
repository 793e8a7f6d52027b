/** The built-in plugins by purpose, in the order of the pages that list them (`plugin-pages.ts`). */

export interface PluginGroup {
  readonly purpose: string;
  readonly plugins: readonly string[];
}

export const PLUGIN_GROUPS: readonly PluginGroup[] = [
  {
    purpose: 'authentication',
    plugins: [
      'apikey-auth',
      'basic-auth',
      'ldap-auth',
      'jwt-auth',
      'oauth2-auth',
      'oidc-auth',
      'hmac-auth',
      'mtls-auth',
      'token-exchange',
    ],
  },
  {
    purpose: 'access control and limits',
    plugins: [
      'acl',
      'cel',
      'rate-limit',
      'ip-restriction',
      'bot-detection',
      'request-size-limit',
      'cors',
      'graphql',
      'waf',
    ],
  },
  {
    purpose: 'transformation and caching',
    plugins: ['request-transformer', 'response-transformer', 'correlation-id', 'cache'],
  },
  { purpose: 'logs, metrics and copies', plugins: ['observability', 'http-log', 'fire-and-forget'] },
  {
    purpose: 'AI policies',
    plugins: [
      'ai-prompt-template',
      'ai-prompt-guard',
      'ai-token-limit',
      'ai-cost-tracker',
      'ai-response-guard',
      'ai-cache',
    ],
  },
  {
    purpose: 'dispatchers to servers and AI providers',
    plugins: ['http-upstream', 'ws-upstream', 'function-url', 'object-store', 'ai-proxy'],
  },
  {
    purpose: 'dispatchers to brokers (Kafka, NATS)',
    plugins: ['stream-publish', 'subject-publish', 'stream-subscribe', 'subject-subscribe'],
  },
  { purpose: 'dispatchers that answer themselves', plugins: ['mock', 'redirect'] },
];
