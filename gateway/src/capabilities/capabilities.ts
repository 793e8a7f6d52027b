/** Every capability of the host: adding one is its folder and one line here. */

import type { ArtifactServices, Capability, LoadedCapability, ProcessServices } from '../capability/capability.ts';
import { ai } from './ai/capability.ts';
import { aiAnswers } from './ai-policies/answers/capability.ts';
import { aiCaching } from './ai-policies/caching/capability.ts';
import { aiPrompts } from './ai-policies/prompts/capability.ts';
import { aiSpending } from './ai-policies/spending/capability.ts';
import { aiTemplates } from './ai-policies/templates/capability.ts';
import { cache } from './cache/capability.ts';
import { cel } from './cel/capability.ts';
import { clientCertificate } from './client-certificate/capability.ts';
import { credentials } from './credentials/capability.ts';
import { deliveries } from './deliveries/capability.ts';
import { directory } from './directory/capability.ts';
import { examples } from './examples/capability.ts';
import { graphql } from './graphql/capability.ts';
import { hmac } from './hmac/capability.ts';
import { httpCall } from './http-call/capability.ts';
import { httpStream } from './http-stream/capability.ts';
import { kafka } from './kafka/capability.ts';
import { log } from './log/capability.ts';
import { nats } from './nats/capability.ts';
import { nonces } from './nonces/capability.ts';
import { objectStore } from './object-store/capability.ts';
import { observations } from './observations/capability.ts';
import { passwords } from './passwords/capability.ts';
import { rateLimits } from './rate-limits/capability.ts';
import { rawRequest } from './raw-request/capability.ts';
import { signatures } from './signatures/capability.ts';
import { tokenExchange } from './token-exchange/capability.ts';
import { tokens } from './tokens/capability.ts';
import { webSocket } from './websocket/capability.ts';

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

/** Host functions by which dispatchers answer with another server's response. */
export const RELAYING_FUNCTIONS: ReadonlySet<string> = new Set(
  CAPABILITIES.flatMap(({ functions }) => Object.entries(functions))
    .filter(([, { relays }]) => relays)
    .map(([name]) => name),
);

/** Capabilities of a process, open until it ends. */
export interface OpenCapabilities {
  load(artifact: ArtifactServices): LoadedCapabilities;
  /** Completes the remaining work of ended requests within that many milliseconds, since the process ends. */
  drain(withinMs: number): Promise<void>;
}

/** Capabilities of a loaded artifact. */
interface LoadedCapabilities {
  readonly list: readonly LoadedCapability[];
  /** The artifact's last request has ended. */
  close(): void;
}

export function openCapabilities(process: ProcessServices): OpenCapabilities {
  const opened = CAPABILITIES.map((each) => each.open(process));
  return {
    drain: async (withinMs) => {
      await Promise.all(opened.map((each) => each.drain(withinMs)));
    },
    load(artifact) {
      const list = opened.map((each) => each.load(artifact));
      return {
        list,
        close: () => {
          for (const each of list) each.close();
        },
      };
    },
  };
}
