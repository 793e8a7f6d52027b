/**
 * The brokers' settings in the configs of `stream-publish` and `stream-subscribe`
 * (docs/reference/plugins.md#stream-publish), read once.
 */

import { get, isObject, type JsonObject, type ReadPem } from '../../../kit.ts';
import { type BrokerTls, readBrokerTls } from '../publishing/broker-tls.ts';
import { type IdempotencySettings, readIdempotency } from '../publishing/idempotency.ts';

/** The config cannot be used; stops the load (exit 1). Names the property, and no secret. */
class KafkaSettingsError extends Error {}

const MECHANISMS = ['plain', 'scram-sha-256', 'scram-sha-512'] as const;

export interface KafkaSasl {
  readonly mechanism: (typeof MECHANISMS)[number];
  readonly username: string;
  readonly password: string;
}

/** Settings of the connection: equal ones share it. */
export interface KafkaBrokers {
  /** `host:port` of those that name the others. */
  readonly brokers: readonly string[];
  readonly sasl: KafkaSasl | null;
  readonly tls: BrokerTls | null;
}

export interface KafkaSettings {
  readonly connection: KafkaBrokers;
  readonly timeoutMs: number;
  readonly idempotency: IdempotencySettings | null;
}

const DEFAULT_PORT = 9092;
const ADDRESS = /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9_.-]+)(?::(\d{1,5}))?$/;

/** Throws KafkaSettingsError, or SecretError for a PEM file. The schema has seen the config before secrets were in it. */
export function readKafkaSettings(config: JsonObject, readPem: ReadPem): KafkaSettings {
  const { timeout } = config;
  return {
    connection: readKafkaBrokers(config, readPem),
    idempotency: readIdempotency(config),
    timeoutMs: Math.max(1, (typeof timeout === 'number' ? timeout : 30) * 1000),
  };
}

/** Throws as `readKafkaSettings`. */
export function readKafkaBrokers(config: JsonObject, readPem: ReadPem): KafkaBrokers {
  const { brokers } = config;
  const tls = readBrokerTls(config, readPem);
  const sasl = saslOf(config);
  if (sasl?.mechanism === 'plain' && tls === null && config['allow_plaintext'] !== true) {
    throw new KafkaSettingsError(
      'sasl.mechanism plain sends the password as it is: add tls, use scram-sha-512, or allow_plaintext where the network is trusted',
    );
  }
  return { brokers: (typeof brokers === 'string' ? brokers : '').split(',').map(addressOf), sasl, tls };
}

function addressOf(given: string): string {
  const [, host, port = DEFAULT_PORT] = ADDRESS.exec(given.trim()) ?? [];
  if (host === undefined || Number(port) > 65_535) {
    throw new KafkaSettingsError('brokers must be host[:port], several with commas between');
  }
  return `${host}:${port}`;
}

function saslOf(config: JsonObject): KafkaSasl | null {
  const given = config['sasl'];
  if (!isObject(given)) return null;
  const mechanism = MECHANISMS.find((each) => each === get(given, 'mechanism'));
  const [username, password] = [get(given, 'username'), get(given, 'password')];
  if (mechanism === undefined || typeof username !== 'string' || typeof password !== 'string' || password === '') {
    throw new KafkaSettingsError('sasl needs mechanism, username and password');
  }
  return { mechanism, username, password };
}
