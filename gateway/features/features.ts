/** Everything that features bring to the core: a new one is its folder and one line here. */

import type { Capability } from '../src/capability/capability.ts';
import type { Features } from '../src/capability/features.ts';
import { aiAnswers } from './ai/host/policies/answers/capability.ts';
import { aiCaching } from './ai/host/policies/caching/capability.ts';
import { aiPrompts } from './ai/host/policies/prompts/capability.ts';
import { aiSpending } from './ai/host/policies/spending/capability.ts';
import { aiTemplates } from './ai/host/policies/templates/capability.ts';
import { ai } from './ai/host/proxy/capability.ts';
import { clientCertificate } from './auth/host/client-certificate.ts';
import { credentials, isKeyHash } from './auth/host/credentials/capability.ts';
import { directory } from './auth/host/directory/capability.ts';
import { hmac } from './auth/host/hmac.ts';
import { nonces } from './auth/host/nonces.ts';
import { passwords } from './auth/host/passwords/capability.ts';
import { isPasswordHash } from './auth/host/passwords/password-hash.ts';
import { signatures } from './auth/host/signatures/capability.ts';
import { tokenExchange } from './auth/host/token-exchange/capability.ts';
import { tokens } from './auth/host/tokens/capability.ts';
import { kafka } from './brokers/host/kafka/capability.ts';
import { nats } from './brokers/host/nats/capability.ts';
import { cache } from './cache/host/capability.ts';
import { cel } from './cel/host/capability.ts';
import { graphql } from './graphql/host/capability.ts';
import { examples } from './http/host/examples.ts';
import { httpCall } from './http/host/http-call/capability.ts';
import { httpStream } from './http/host/http-stream.ts';
import { objectStore } from './http/host/object-store/capability.ts';
import { rawRequest } from './http/host/raw-request.ts';
import { webSocket } from './http/host/websocket.ts';
import { rateLimits } from './limits/host/rate-limits.ts';
import { deliveries } from './observe/host/deliveries/capability.ts';
import { log } from './observe/host/log.ts';
import { observations } from './observe/host/observations/capability.ts';

export const CAPABILITIES: readonly Capability[] = [
  rawRequest,
  log,
  nonces,
  rateLimits,
  cache,
  credentials,
  cel,
  passwords,
  directory,
  hmac,
  clientCertificate,
  examples,
  httpStream,
  webSocket,
  httpCall,
  objectStore,
  tokens,
  tokenExchange,
  signatures,
  kafka,
  nats,
  graphql,
  deliveries,
  observations,
  ai,
  aiTemplates,
  aiPrompts,
  aiSpending,
  aiAnswers,
  aiCaching,
];

export const FEATURES: Features = {
  capabilities: CAPABILITIES,
  isHash: { key: isKeyHash, password: isPasswordHash },
  loadConditions: async () => (await import('./cel/host/expression.ts')).compileCondition,
};
