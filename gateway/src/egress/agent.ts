/** The connections of whole HTTP calls, by undici. Imported with the first call, so that a gateway starts without it. */
import type { Dispatcher } from 'undici';
import { Agent } from '../undici.ts';
import { createConnector } from './connector.ts';
import type { EgressGuard } from './guard.ts';
import { limitInformational } from './informational-limit.ts';

const CONNECT_TIMEOUT_MS = 10_000;

export function createAgent(guard: EgressGuard): Dispatcher {
  return new Agent({
    // Connections are unlimited, as to upstreams: with a limit, calls would wait for those that hold them.
    connect: createConnector({ guard, timeoutMs: CONNECT_TIMEOUT_MS }),
    allowH2: false,
    pipelining: 1,
    keepAliveTimeout: 30_000,
    maxHeaderSize: 64 << 10,
  }).compose(limitInformational);
}
