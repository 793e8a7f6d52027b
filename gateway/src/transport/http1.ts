/** HTTP/1.1 on node:http and node:https: makes an Exchange of each request, and writes what the pipeline answers. */
import { createServer, type Server as HttpServer, type IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createSecureServer, type Server as HttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import { Exchange, type HeaderList, type Responder, type ResponseSink } from '../exchange.ts';
import { atTurnEnd } from '../turn.ts';
import { type BodyOwner, IncomingBody } from './body.ts';
import { inspect } from './inspect.ts';
import { refuse, tooSlow } from './refuse.ts';
import type { TlsVersion } from './tls.ts';
import type { DrainState, TlsSettings, TransportLimits, TransportState } from './transport.ts';

/** The parser's own limit lies above all of ours together, so that refusals are ours (D17). */
export function parserLimit({ maxHeaders, maxHeaderSize, maxUriLength }: TransportLimits): number {
  return Math.min(2 * (maxHeaders * maxHeaderSize + maxUriLength) + 65536, 64 << 20);
}

/** Bytes of a body up to which it is copied behind the head, so that both are one write. */
export const ONE_PIECE = 4096;

class Http1Response extends ServerResponse implements Responder, BodyOwner {
  exchange: Exchange | null = null;
  drain: DrainState | null = null;
  waitsForContinue = false;

  send(_x: Exchange, status: number, headers: HeaderList, body: Uint8Array | string | null): void {
    const bodiless = status === 204 || status === 304;
    if (!bodiless) {
      const length = body === null ? 0 : typeof body === 'string' ? Buffer.byteLength(body) : body.length;
      headers.push('content-length', String(length));
    }
    this.#head(status, headers);
    if (body === null || bodiless) atTurnEnd(() => void this.end());
    else this.endWith(body);
  }

  stream(_x: Exchange, status: number, headers: HeaderList): ResponseSink {
    this.#head(status, headers);
    return this;
  }

  /** Ends with a body that is whole: a short one goes out in one piece with the head. Nothing is written before. */
  endWith(body: Uint8Array | string): void {
    const short = typeof body !== 'string' && body.length <= ONE_PIECE;
    // What follows in this turn may reuse the memory behind `body`: a short one is copied now.
    const text = short ? Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('latin1') : null;
    atTurnEnd(() => void (text === null ? this.end(body) : this.end(text, 'latin1')));
  }

  get headSent(): boolean {
    return this.headersSent;
  }

  abort(): void {
    this.socket?.destroy();
  }

  bodyWanted(): void {
    if (this.waitsForContinue) this.writeContinue();
  }

  bodyTooSlow(): void {
    const x = this.exchange;
    if (x === null || this.headersSent) return this.abort();
    const { status, headers, body } = tooSlow(x);
    x.close();
    this.shouldKeepAlive = false;
    this.writeHead(status, headers);
    this.end(body);
  }

  #head(status: number, headers: HeaderList): void {
    const body = this.exchange?.bodyStream;
    // A body that nobody read to its end stands in the way of the next request: the connection ends instead.
    if (this.drain?.draining || (body && !body.readableEnded)) this.shouldKeepAlive = false;
    this.writeHead(status, headers);
  }
}

function responseClosed(this: Http1Response): void {
  this.exchange?.close();
}

/** Plain IPv4 also where the socket is dual-stack. */
export function peerOf(socket: Socket): string {
  const address = socket.remoteAddress ?? '';
  return address.startsWith('::ffff:') ? address.slice(7) : address;
}

/** The server that listens, and how it takes a new certificate. */
export interface Http1Server {
  readonly server: HttpServer | HttpsServer;
  useTls(settings: TlsSettings): void;
}

export function createHttp1Server(
  { limits, events, drain, slow }: TransportState,
  tls: TlsSettings | null,
): Http1Server {
  const scheme = tls ? 'https' : 'http';
  const bodyLimits = { maxBodySize: limits.maxBodySize, slow };
  const options = {
    ServerResponse: Http1Response,
    maxHeaderSize: parserLimit(limits),
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    headersTimeout: limits.headersTimeoutMs,
    // The body has its own limit, on the time without progress: large ones may take long.
    requestTimeout: 0,
    connectionsCheckingInterval: Math.max(20, Math.min(1000, limits.headersTimeoutMs / 4)),
    requireHostHeader: false,
    noDelay: true,
    highWaterMark: 64 << 10,
  };

  function accept(request: IncomingMessage, response: Http1Response, waitsForContinue: boolean): void {
    const raw = request.rawHeaders;
    const { hasBody, fault } = inspect(raw, request.httpVersionMinor);
    const x = new Exchange(response, {
      method: request.method ?? 'GET',
      target: request.url ?? '/',
      scheme,
      headers: raw,
      clientIp: peerOf(request.socket),
      body: hasBody ? new IncomingBody(request, response, bodyLimits) : null,
    });
    x.fault = fault;
    response.exchange = x;
    response.drain = drain;
    response.waitsForContinue = waitsForContinue;
    response.on('close', responseClosed);
    events.request(x);
  }

  const onRequest = (request: IncomingMessage, response: Http1Response) => accept(request, response, false);
  const secure = tls && createSecureServer({ ...options, ...secureOptions(tls, limits) }, onRequest);
  const server = secure ?? createServer(options, onRequest);
  server.maxHeadersCount = 0;
  server.on('checkContinue', (request, response) => accept(request, response as Http1Response, true));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const status = refuse(socket as Socket, error);
    if (status !== null) events.malformed(status);
  });
  if (secure) {
    // What failed its handshake cannot be answered in HTTP.
    secure.removeAllListeners('tlsClientError');
    secure.on('tlsClientError', (_error, socket) => socket.destroy());
  }
  return {
    server,
    useTls: ({ keyPair, minVersion }) => secure?.setSecureContext({ ...keyPair, minVersion: versionName(minVersion) }),
  };
}

function versionName(version: TlsVersion): 'TLSv1.2' | 'TLSv1.3' {
  return `TLSv${version}`;
}

function secureOptions({ keyPair, minVersion }: TlsSettings, { headersTimeoutMs }: TransportLimits) {
  return {
    ...keyPair,
    minVersion: versionName(minVersion),
    ALPNProtocols: ['h2', 'http/1.1'],
    honorCipherOrder: true,
    handshakeTimeout: headersTimeoutMs,
  };
}
