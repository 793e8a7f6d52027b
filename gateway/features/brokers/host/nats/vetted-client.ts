/** A connection of the client library over a socket that the egress guard has vetted. Loaded with the library. */
import {
  type Authenticator,
  credsAuthenticator,
  type NatsConnection,
  nkeyAuthenticator,
  tokenAuthenticator,
  usernamePasswordAuthenticator,
} from '@nats-io/nats-core';
import { Kind, NatsConnectionImpl, type ParserEvent, type ProtocolHandler } from '@nats-io/nats-core/internal';
import type { EgressGuard } from '../../../kit.ts';
import { secureContextOf } from '../publishing/broker-tls.ts';
import { ConnectionRefused } from '../publishing/kept-connection.ts';
import type { NatsCredentials, NatsServers } from './nats-settings.ts';
import { useVettedTransport, type VettedOptions } from './vetted-transport.ts';

useVettedTransport();

const CONNECT_TIMEOUT_MS = 10_000;
/** Milliseconds between pings; a server that leaves two unanswered has gone. */
const PING_INTERVAL_MS = 10_000;

/**
 * `mostWaiting`: bytes that may wait for a server that does not read; more end the connection. Rejects if no server
 * accepts it; with ConnectionRefused if they reject the credentials.
 */
export async function openClient(
  servers: NatsServers,
  guard: EgressGuard,
  mostWaiting: number,
): Promise<NatsConnection> {
  const { credentials, tls, allowPlaintext } = servers;
  const isSecretSent = credentials.kind === 'password' || credentials.kind === 'token';
  const authenticator = authenticatorOf(credentials);
  let protocol: ProtocolHandler | null = null;
  const options: VettedOptions = {
    servers: [...servers.servers],
    name: 'gw',
    // The user of the connection opens a new one: the library must not resend unacknowledged messages by itself.
    reconnect: false,
    timeout: CONNECT_TIMEOUT_MS,
    pingInterval: PING_INTERVAL_MS,
    noAsyncTraces: true,
    ...(authenticator ? { authenticator } : {}),
    ...(tls ? { tls: {} } : {}),
    vetted: {
      guard,
      timeoutMs: CONNECT_TIMEOUT_MS,
      secureContext: tls && secureContextOf(tls),
      needsTls: isSecretSent && !allowPlaintext,
      mostWaiting,
      isAwaited: (event) => protocol !== null && isAwaited(protocol, event),
    },
  };
  try {
    const client = await NatsConnectionImpl.connect(options);
    if (client instanceof NatsConnectionImpl) protocol = client.protocol;
    return client;
  } catch (error) {
    throw isAuthorization(error)
      ? new ConnectionRefused('the server rejects the credentials', { cause: error })
      : error;
  }
}

/** A message of a subscription, or the answer to a ping. */
function isAwaited({ subscriptions, pongs }: ProtocolHandler, { kind, msg }: ParserEvent): boolean {
  if (kind === Kind.PONG) return pongs.length > 0;
  return msg !== undefined && subscriptions.get(msg.sid) !== undefined;
}

function authenticatorOf(credentials: NatsCredentials): Authenticator | null {
  const bytes = (text: string) => new Uint8Array(Buffer.from(text));
  switch (credentials.kind) {
    case 'password':
      return usernamePasswordAuthenticator(credentials.user, credentials.password);
    case 'token':
      return tokenAuthenticator(credentials.token);
    case 'nkey':
      return nkeyAuthenticator(bytes(credentials.seed));
    case 'creds':
      return credsAuthenticator(bytes(credentials.creds));
    case 'none':
      return null;
  }
}

function isAuthorization(error: unknown): boolean {
  return error instanceof Error && /^(Authorization|UserAuthentication)/.test(error.name);
}
