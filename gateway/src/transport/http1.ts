/** The server that listens, on node:net or node:tls, and its connections that speak HTTP/1.1. */
import { createServer, type Server as NetServer, type Socket } from 'node:net';
import { createServer as createSecureServer, type Server as TlsServer } from 'node:tls';
import { Slots } from '../memory/slots.ts';
import { clientAuthOptions } from './client-certificate.ts';
import { Http1Connection, type Http1Settings } from './http1-connection.ts';
import type { TlsVersion } from './tls.ts';
import type { TlsSettings, TransportLimits, TransportState } from './transport-state.ts';

/**
 * Returns the bytes of a head past which no more of it is read. They lie above all of the gateway's limits together, so
 * that a request which is too large is refused with the problem that says so (docs/decisions.md#refusals-are-ours), and
 * little above them: until they are reached, an arriving head is held.
 */
export function parserLimit({ maxHeaderBytes, maxUriLength }: TransportLimits): number {
  return Math.min(maxHeaderBytes + maxUriLength + 65536, 64 << 20);
}

export class Http1Server {
  readonly server: NetServer | TlsServer;
  readonly #secure: TlsServer | null;
  readonly #settings: Http1Settings;

  constructor(state: TransportState, tls: TlsSettings | null) {
    const { limits, slowSenders } = state;
    this.#settings = {
      state,
      scheme: tls ? 'https' : 'http',
      asksForCertificates: tls !== null && tls.clientAuth !== 'off',
      bodyLimits: { maxBodySize: limits.maxBodySize, slowSenders },
      mostHeadBytes: parserLimit(limits),
      keepAliveLines: keepAliveLines(limits),
      open: new Slots(),
    };
    const options = { allowHalfOpen: true, noDelay: true, highWaterMark: 64 << 10 };
    this.#secure = tls && createSecureServer({ ...options, ...secureOptions(tls, limits) });
    this.server = this.#secure ?? createServer(options);
    // A client that leaves before its handshake, such as a probe of the port, leaves nothing behind.
    this.#secure?.prependListener('connection', (socket) => {
      socket.allowHalfOpen = false;
    });
    // A failed handshake cannot be answered in HTTP.
    this.#secure?.on('tlsClientError', (_error, socket) => socket.destroy());
  }

  useTls(settings: TlsSettings): void {
    this.#secure?.setSecureContext(contextOptions(settings));
  }

  /** Serves the requests of a connection. */
  begin(socket: Socket): Http1Connection {
    socket.allowHalfOpen = true;
    return new Http1Connection(socket, this.#settings);
  }

  /** Ends connections whose clients let their time for a request, or between requests, pass. */
  sweep(now: number): void {
    for (const connection of this.#settings.open) connection.sweep(now);
  }

  closeIdle(): void {
    for (const connection of this.#settings.open) if (!connection.busy) connection.close();
  }

  closeAll(): void {
    for (const connection of this.#settings.open) connection.close();
  }
}

function keepAliveLines({ keepAliveTimeoutMs }: TransportLimits): string {
  const hint = keepAliveTimeoutMs > 0 ? `Keep-Alive: timeout=${Math.floor(keepAliveTimeoutMs / 1000)}\r\n` : '';
  return `Connection: keep-alive\r\n${hint}`;
}

function versionName(version: TlsVersion): 'TLSv1.2' | 'TLSv1.3' {
  return `TLSv${version}`;
}

function contextOptions({ keyPair: { cert, key, clientCa }, minVersion, clientAuth }: TlsSettings) {
  return {
    cert,
    key,
    ...(clientCa ? { ca: clientCa } : {}),
    ...clientAuthOptions(clientAuth),
    minVersion: versionName(minVersion),
  };
}

function secureOptions(settings: TlsSettings, { headersTimeoutMs }: TransportLimits) {
  return {
    ...contextOptions(settings),
    ALPNProtocols: ['h2', 'http/1.1'],
    honorCipherOrder: true,
    handshakeTimeout: headersTimeoutMs,
  };
}
