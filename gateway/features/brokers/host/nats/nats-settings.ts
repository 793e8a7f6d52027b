/**
 * The servers' settings in the configs of `subject-publish` and `subject-subscribe`
 * (docs/reference/plugins.md#subject-publish), read once.
 */

import { isHostAndPort, type JsonObject, type ReadPem } from '../../../kit.ts';
import { type BrokerTls, readBrokerTls } from '../publishing/broker-tls.ts';
import { type IdempotencySettings, readIdempotency } from '../publishing/idempotency.ts';

/** The config cannot be used; stops the load (exit 1). Names the property, and no secret. */
class NatsSettingsError extends Error {}

export type NatsCredentials =
  | { readonly kind: 'none' }
  | { readonly kind: 'password'; readonly user: string; readonly password: string }
  | { readonly kind: 'token'; readonly token: string }
  /** `SU…`: signs the server's challenge, and is not sent. */
  | { readonly kind: 'nkey'; readonly seed: string }
  /** The content of a `.creds` file: a JWT and the seed that signs. */
  | { readonly kind: 'creds'; readonly creds: string };

/** The source of a message's acknowledgement. */
const ACKNOWLEDGEMENTS = ['auto', 'stream', 'none'] as const;
export type Acknowledgement = (typeof ACKNOWLEDGEMENTS)[number];

/** Settings of the connection: equal ones share it. */
export interface NatsServers {
  /** `host:port` of each. */
  readonly servers: readonly string[];
  readonly credentials: NatsCredentials;
  /** Null: TLS only if the server offers it. */
  readonly tls: BrokerTls | null;
  /** Passwords and tokens may be sent without TLS. */
  readonly allowPlaintext: boolean;
}

export interface NatsSettings {
  readonly connection: NatsServers;
  readonly acknowledgement: Acknowledgement;
  readonly timeoutMs: number;
  readonly idempotency: IdempotencySettings | null;
}

const NO_FILES: BrokerTls = { ca: undefined, cert: undefined, key: undefined };
const DEFAULT_PORT = 4222;

/** Throws NatsSettingsError, or SecretError for a PEM file. The schema has seen the config before secrets were in it. */
export function readNatsSettings(config: JsonObject, readPem: ReadPem): NatsSettings {
  const acknowledgement = ACKNOWLEDGEMENTS.find((each) => each === config['acknowledgement']) ?? 'auto';
  const { timeout } = config;
  return {
    connection: readNatsServers(config, readPem),
    acknowledgement,
    idempotency: readIdempotency(config),
    timeoutMs: Math.max(1, (typeof timeout === 'number' ? timeout : 30) * 1000),
  };
}

/** Throws as `readNatsSettings`. */
export function readNatsServers(config: JsonObject, readPem: ReadPem): NatsServers {
  const urls = text(config, 'url').split(',').map(urlOf);
  return {
    servers: urls.map(({ server }) => server),
    credentials: credentialsOf(config),
    tls: readBrokerTls(config, readPem) ?? (urls.some(({ secure }) => secure) ? NO_FILES : null),
    allowPlaintext: config['allow_plaintext'] === true,
  };
}

function text(config: JsonObject, name: string): string {
  const value = config[name];
  return typeof value === 'string' ? value : '';
}

function urlOf(given: string): { readonly server: string; readonly secure: boolean } {
  const url = URL.parse(given.trim());
  if (url === null || !['nats:', 'tls:'].includes(url.protocol) || url.hostname === '') {
    throw new NatsSettingsError('url must be nats://host[:port] or tls://host[:port], or several with commas between');
  }
  if (!isHostAndPort(url)) {
    throw new NatsSettingsError(
      'url contains more than host and port: use user and password, token, nkey_seed or credentials for the rest',
    );
  }
  return { server: `${url.hostname}:${url.port || DEFAULT_PORT}`, secure: url.protocol === 'tls:' };
}

function credentialsOf(config: JsonObject): NatsCredentials {
  const [user, password, token] = [text(config, 'user'), text(config, 'password'), text(config, 'token')];
  const [seed, creds] = [text(config, 'nkey_seed').trim(), text(config, 'credentials')];
  const given = [user, token, seed, creds].filter((each) => each !== '');
  if (given.length > 1) {
    throw new NatsSettingsError('user, token, nkey_seed and credentials exclude each other: give one of them');
  }
  if ((user === '') !== (password === '')) throw new NatsSettingsError('user and password belong together: give both');
  if (user !== '') return { kind: 'password', user, password };
  if (token !== '') return { kind: 'token', token };
  if (seed !== '') return { kind: 'nkey', seed };
  if (creds !== '') return { kind: 'creds', creds };
  return { kind: 'none' };
}
