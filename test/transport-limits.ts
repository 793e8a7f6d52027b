/** Limits of a transport that no test of it reaches by waiting. */
import type { TransportLimits } from '../gateway/src/transport/transport-state.ts';

export const TRANSPORT_LIMITS: TransportLimits = {
  maxBodySize: 1 << 20,
  maxHeaders: 100,
  maxHeaderSize: 8192,
  maxHeaderBytes: 100 * 8192,
  maxUriLength: 8192,
  keepAliveTimeoutMs: 600_000,
  headersTimeoutMs: 600_000,
  bodyTimeoutMs: 600_000,
  sendTimeoutMs: 600_000,
  http2MaxStreams: 100,
  http2MaxResets: 1000,
  pingIntervalMs: 600_000,
};
