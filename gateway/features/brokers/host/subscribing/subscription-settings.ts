/** Settings that configs of subscribing plugins share (docs/reference/plugins.md#subscribing). */
import { get, type JsonObject } from '../../../kit.ts';

export interface Lag {
  readonly messages: number;
  readonly bytes: number;
}

export interface SubscriptionSettings {
  /** Start of clients without a `Last-Event-ID`. */
  readonly from: 'latest' | 'earliest';
  /** Most clients of the config, in a process. */
  readonly maxClients: number;
  readonly heartbeatMs: number;
  /** Largest lag of a client that reads slowly. */
  readonly maxLag: Lag;
  /** Delay before clients reconnect, as they are told; each up to twice that. */
  readonly retryMs: number;
  /** After which a client has to open its stream again; 0: never. */
  readonly maxDurationMs: number;
  readonly includeMetadata: boolean;
  /** For the connection. */
  readonly timeoutMs: number;
}

export function readSubscriptionSettings(config: JsonObject): SubscriptionSettings {
  const lag = config['max_lag'];
  return {
    from: config['from'] === 'earliest' ? 'earliest' : 'latest',
    maxClients: numberOr(config['max_clients'], 1_000),
    heartbeatMs: Math.ceil(numberOr(config['heartbeat'], 15) * 1_000),
    maxLag: { messages: numberOr(get(lag, 'messages'), 10_000), bytes: numberOr(get(lag, 'bytes'), 8 << 20) },
    retryMs: Math.ceil(numberOr(config['retry'], 2) * 1_000),
    maxDurationMs: Math.ceil(numberOr(config['max_duration'], 3_600) * 1_000),
    includeMetadata: config['include_metadata'] === true,
    timeoutMs: Math.max(1, numberOr(config['timeout'], 10) * 1_000),
  };
}

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}
