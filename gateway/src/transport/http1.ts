/** HTTP/1.1 over TCP, on node:http: makes an Exchange of each request, and writes what the pipeline answers. */
import { createServer, type IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { Exchange, type HeaderList, type Responder, type ResponseSink } from '../exchange.ts';
import { atTurnEnd } from '../turn.ts';
import { IncomingBody } from './body.ts';
import { inspect } from './inspect.ts';
import { refuse } from './refuse.ts';

export interface TransportLimits {
  /** Bytes (`--max-body-size`). */
  readonly maxBodySize: number;
  readonly maxHeaders: number;
  /** Bytes of one header, name and value. */
  readonly maxHeaderSize: number;
  /** Bytes. */
  readonly maxUriLength: number;
  /** Milliseconds idle between requests. */
  readonly keepAliveTimeoutMs: number;
  /** `GW_MAX_CONNECTIONS`; further ones are dropped. */
  readonly maxConnections: number;
}

export interface TransportEvents {
  request(x: Exchange): void;
  connectionOpened(): void;
  connectionClosed(): void;
  /** The bytes were no valid request, and were refused with this status. */
  malformed(status: number): void;
}

export interface Transport {
  /** Resolves to the address that it listens on; rejects where it cannot bind. */
  listen(host: string, port: number): Promise<AddressInfo>;
  /** From now on every response closes its connection; new ones are still accepted. */
  beginDrain(): void;
  /** Stops accepting, waits for what is in flight up to the time, then cuts the rest. */
  close(timeoutMs: number): Promise<void>;
}

/** The parser's own limit lies above all of ours together, so that refusals are ours (D17). */
function parserLimit({ maxHeaders, maxHeaderSize, maxUriLength }: TransportLimits): number {
  return Math.min(2 * (maxHeaders * maxHeaderSize + maxUriLength) + 65536, 64 << 20);
}

/** Bytes of a body up to which it is copied behind the head, so that both are one write. */
const ONE_PIECE = 4096;

/** Set by `beginDrain`; shared by all responses of one transport. */
interface DrainState {
  draining: boolean;
}

class Http1Response extends ServerResponse implements Responder {
  exchange: Exchange | null = null;
  drain: DrainState | null = null;

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
function peerOf(socket: Socket): string {
  const address = socket.remoteAddress ?? '';
  return address.startsWith('::ffff:') ? address.slice(7) : address;
}

export function createHttp1Transport(limits: TransportLimits, events: TransportEvents): Transport {
  const state: DrainState = { draining: false };
  const server = createServer(
    {
      ServerResponse: Http1Response,
      maxHeaderSize: parserLimit(limits),
      keepAliveTimeout: limits.keepAliveTimeoutMs,
      requireHostHeader: false,
      noDelay: true,
      highWaterMark: 64 << 10,
    },
    (request, response) => accept(request, response, false),
  );
  server.maxHeadersCount = 0;
  server.maxConnections = limits.maxConnections;

  function accept(request: IncomingMessage, response: Http1Response, waitsForContinue: boolean): void {
    const raw = request.rawHeaders;
    const { hasBody, fault } = inspect(raw, request.httpVersionMinor);
    const x = new Exchange(response, {
      method: request.method ?? 'GET',
      target: request.url ?? '/',
      scheme: 'http',
      headers: raw,
      clientIp: peerOf(request.socket),
      body: hasBody ? new IncomingBody(request, limits.maxBodySize, waitsForContinue ? response : null) : null,
    });
    x.fault = fault;
    response.exchange = x;
    response.drain = state;
    response.on('close', responseClosed);
    events.request(x);
  }

  server.on('checkContinue', (request, response) => accept(request, response, true));
  server.on('connection', (socket) => {
    events.connectionOpened();
    socket.on('close', events.connectionClosed);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const status = refuse(socket as Socket, error);
    if (status !== null) events.malformed(status);
  });

  return {
    listen: (host, port) =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen({ host, port, backlog: 1024 }, () => {
          server.off('error', reject);
          resolve(server.address() as AddressInfo);
        });
      }),
    beginDrain() {
      state.draining = true;
    },
    close: (timeoutMs) =>
      new Promise((resolve) => {
        state.draining = true;
        const cut = setTimeout(() => server.closeAllConnections(), timeoutMs);
        server.close(() => {
          clearTimeout(cut);
          resolve();
        });
        server.closeIdleConnections();
      }),
  };
}
