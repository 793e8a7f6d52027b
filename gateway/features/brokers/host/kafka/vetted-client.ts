/** Options of the client library: all sockets go through the egress guard, and it logs nothing. */
import type { KafkaConfig, SASLOptions } from 'kafkajs';
import { type EgressGuard, EgressRefused, messageOf } from '../../../kit.ts';
import { secureContextOf } from '../publishing/broker-tls.ts';
import { ConnectionRefused } from '../publishing/kept-connection.ts';
import type { KafkaBrokers, KafkaSasl } from './kafka-settings.ts';
import { VettedSocket } from './vetted-socket.ts';

const CONNECT_TIMEOUT_MS = 10_000;
export const REQUEST_TIMEOUT_MS = 10_000;
/** The library's own attempts; longer retries are made here, visibly. */
export const RETRY = { initialRetryTime: 50, factor: 0.2, multiplier: 2, maxRetryTime: 1_000, retries: 0 };

export interface VettedClient {
  readonly options: KafkaConfig & Required<Pick<KafkaConfig, 'brokers' | 'logCreator' | 'socketFactory'>>;
  /** Returns the reason of a missing connection: EgressRefused, ConnectionRefused, or the library's error. */
  reasonOf(error: unknown): unknown;
}

export function vettedClient({ brokers, sasl, tls }: KafkaBrokers, guard: EgressGuard): VettedClient {
  const vetted = { guard, timeoutMs: CONNECT_TIMEOUT_MS, secureContext: tls && secureContextOf(tls) };
  let refused: EgressRefused | null = null;
  return {
    options: {
      clientId: 'gw',
      brokers: [...brokers],
      connectionTimeout: CONNECT_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      retry: RETRY,
      ...(sasl ? { sasl: optionsOf(sasl) } : {}),
      ...(tls ? { ssl: true } : {}),
      socketFactory: ({ host, port, onConnect }) =>
        new VettedSocket(host, port, vetted, onConnect).once('error', (error) => {
          if (error instanceof EgressRefused) refused = error;
        }),
      // Errors are reported once, by the code that uses the client.
      logCreator: () => () => {},
    },
    reasonOf(error) {
      if (refused !== null) return refused;
      if (!isAuthentication(error)) return error;
      return new ConnectionRefused('the brokers reject the credentials', { cause: error });
    },
  };
}

function optionsOf({ mechanism, username, password }: KafkaSasl): SASLOptions {
  switch (mechanism) {
    case 'plain':
      return { mechanism, username, password };
    case 'scram-sha-256':
      return { mechanism, username, password };
    case 'scram-sha-512':
      return { mechanism, username, password };
  }
}

function isAuthentication(error: unknown): boolean {
  return /SASL|[Aa]uthenticat/.test(`${error instanceof Error ? error.name : ''} ${messageOf(error)}`);
}
