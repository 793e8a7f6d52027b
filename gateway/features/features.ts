/** Everything that features bring to the core: a new one is its folder and one line here. */

import type { Capability } from '../src/capability/capability.ts';
import type { Features } from '../src/capability/features.ts';
import { isKeyHash } from './auth/host/credentials/key-hash.ts';
import { isPasswordHash } from './auth/host/passwords/password-hash.ts';
import { CAPABILITY_TABLE } from './capability-table.gen.ts';

/** Imported when a plugin needs one: a gateway starts sooner, and is smaller, without the others. */
const IMPORTS: Readonly<Record<string, () => Promise<Capability>>> = {
  rawRequest: async () => (await import('./http/host/raw-request.ts')).rawRequest,
  log: async () => (await import('./observe/host/log.ts')).log,
  nonces: async () => (await import('./auth/host/nonces.ts')).nonces,
  rateLimits: async () => (await import('./limits/host/rate-limits.ts')).rateLimits,
  cache: async () => (await import('./cache/host/capability.ts')).cache,
  credentials: async () => (await import('./auth/host/credentials/capability.ts')).credentials,
  cel: async () => (await import('./cel/host/capability.ts')).cel,
  passwords: async () => (await import('./auth/host/passwords/capability.ts')).passwords,
  directory: async () => (await import('./auth/host/directory/capability.ts')).directory,
  hmac: async () => (await import('./auth/host/hmac.ts')).hmac,
  clientCertificate: async () => (await import('./auth/host/client-certificate.ts')).clientCertificate,
  examples: async () => (await import('./http/host/examples.ts')).examples,
  httpStream: async () => (await import('./http/host/http-stream.ts')).httpStream,
  webSocket: async () => (await import('./http/host/websocket.ts')).webSocket,
  httpCall: async () => (await import('./http/host/http-call/capability.ts')).httpCall,
  objectStore: async () => (await import('./http/host/object-store/capability.ts')).objectStore,
  tokens: async () => (await import('./auth/host/tokens/capability.ts')).tokens,
  tokenExchange: async () => (await import('./auth/host/token-exchange/capability.ts')).tokenExchange,
  signatures: async () => (await import('./auth/host/signatures/capability.ts')).signatures,
  kafka: async () => (await import('./brokers/host/kafka/capability.ts')).kafka,
  nats: async () => (await import('./brokers/host/nats/capability.ts')).nats,
  graphql: async () => (await import('./graphql/host/capability.ts')).graphql,
  waf: async () => (await import('./waf/host/capability.ts')).waf,
  deliveries: async () => (await import('./observe/host/deliveries/capability.ts')).deliveries,
  observations: async () => (await import('./observe/host/observations/capability.ts')).observations,
  ai: async () => (await import('./ai/host/proxy/capability.ts')).ai,
  aiTemplates: async () => (await import('./ai/host/policies/templates/capability.ts')).aiTemplates,
  aiPrompts: async () => (await import('./ai/host/policies/prompts/capability.ts')).aiPrompts,
  aiSpending: async () => (await import('./ai/host/policies/spending/capability.ts')).aiSpending,
  aiAnswers: async () => (await import('./ai/host/policies/answers/capability.ts')).aiAnswers,
  aiCaching: async () => (await import('./ai/host/policies/caching/capability.ts')).aiCaching,
};

/** Imports every capability; returns them by their names. */
export async function allCapabilities(): Promise<ReadonlyMap<string, Capability>> {
  const loaded = Object.entries(IMPORTS).map(async ([name, load]) => [name, await load()] as const);
  return new Map(await Promise.all(loaded));
}

export const FEATURES: Features = {
  capabilities: Object.entries(IMPORTS).map(([name, load]) => ({
    ...(CAPABILITY_TABLE[name] ?? { functions: [], metrics: [] }),
    load,
  })),
  isHash: { key: isKeyHash, password: isPasswordHash },
  loadDataCompiler: { waf: async () => (await import('./waf/compile/compiler.ts')).wafCompiler },
  loadConditions: async () => (await import('./cel/host/expression.ts')).compileCondition,
};
