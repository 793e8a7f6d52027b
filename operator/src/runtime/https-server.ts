/**
 * The operator's HTTPS listener: webhooks on every replica, and on the leader the data-plane link and downloads
 * (docs/reference/kinds.md#webhooks, docs/reference/kinds.md#link). Its certificate is replaced while it runs; open
 * connections keep theirs.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { Duplex } from 'node:stream';
import type { SecureContextOptions } from 'node:tls';
import { limitIdleSockets } from '@gw/control/idle-sockets';

export interface HttpsServerOptions {
  readonly host: string;
  /** 0 chooses a free one. */
  readonly port: number;
  /**
   * PEM of the authorities that sign client certificates, which handlers check; absent: no certificate is requested.
   */
  readonly clientCa?: string;
  /** Called with errors that a handler threw, and with errors beneath HTTP. */
  readonly onError: (error: unknown) => void;
}

/** PEM texts. */
export interface ServerCertificate {
  readonly cert: string;
  readonly key: string;
}

export type RequestHandler = (request: IncomingMessage, response: ServerResponse, url: URL) => void | Promise<void>;
export type UpgradeHandler = (request: IncomingMessage, socket: Duplex, head: Buffer, url: URL) => void;

/** Registers handlers on the listener; both methods return a function that removes the handler. */
export interface HttpsRoutes {
  /** Requests whose path begins with `prefix`; of several prefixes the longest. */
  handle(prefix: string, handler: RequestHandler): () => void;
  /** Upgrades (WebSocket) of exactly this path. */
  upgrade(path: string, handler: UpgradeHandler): () => void;
}

const MAX_HEADER_BYTES = 16 * 1024;
const HANDSHAKE_MS = 10_000;
const HEADERS_MS = 10_000;
/** Milliseconds for the request alone: answers have no limit. */
const REQUEST_MS = 30_000;
/** Longer than the API server keeps an idle connection to a webhook. */
const KEEP_ALIVE_MS = 120_000;
/** Sidecars hold one connection each. */
const MAX_CONNECTIONS = 20_000;

export class HttpsServer implements HttpsRoutes {
  readonly #options: HttpsServerOptions;
  readonly #handlers = new Map<string, RequestHandler>();
  readonly #upgrades = new Map<string, UpgradeHandler>();
  readonly #sockets = new Set<Duplex>();
  #server: Server | undefined;
  #port = 0;

  constructor(options: HttpsServerOptions) {
    this.#options = options;
  }

  /** Returns its port; 0 before there is a certificate. */
  get port(): number {
    return this.#port;
  }

  handle(prefix: string, handler: RequestHandler): () => void {
    return hang(this.#handlers, prefix, handler);
  }

  upgrade(path: string, handler: UpgradeHandler): () => void {
    return hang(this.#upgrades, path, handler);
  }

  /** Starts to listen with this certificate; rejects when the port is in use. */
  start(certificate: ServerCertificate): Promise<number> {
    const { host, port, clientCa, onError } = this.#options;
    const answer: RequestListener = (request, response) => void this.#answer(request, response);
    const server = createServer(
      {
        ...this.#context(certificate),
        // Data planes show no certificate: each handler checks its own clients.
        ...(clientCa === undefined ? {} : { requestCert: true, rejectUnauthorized: false }),
        handshakeTimeout: HANDSHAKE_MS,
        maxHeaderSize: MAX_HEADER_BYTES,
      },
      answer,
    );
    server.headersTimeout = HEADERS_MS;
    server.requestTimeout = REQUEST_MS;
    server.keepAliveTimeout = KEEP_ALIVE_MS;
    server.maxConnections = MAX_CONNECTIONS;
    limitIdleSockets(server);
    server.on('upgrade', (request, socket, head) => this.#upgrade(request, socket, head));
    this.#server = server;
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, host, () => {
        server.off('error', reject).on('error', onError);
        const address = server.address();
        this.#port = typeof address === 'object' && address ? address.port : port;
        resolve(this.#port);
      });
    });
  }

  /** Gives new connections this certificate. Throws if key and certificate do not match; the former then stays. */
  replaceCertificate(certificate: ServerCertificate): void {
    this.#server?.setSecureContext(this.#context(certificate));
  }

  #context({ cert, key }: ServerCertificate): SecureContextOptions {
    const { clientCa: ca } = this.#options;
    return { cert, key, minVersion: 'TLSv1.2', ...(ca === undefined ? {} : { ca }) };
  }

  /** Answers open requests, for at most `graceMs`; upgraded connections are cut. */
  async close(graceMs = 5000): Promise<void> {
    const server = this.#server;
    if (!server) return;
    const timer = setTimeout(() => server.closeAllConnections(), graceMs);
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeIdleConnections();
    });
    clearTimeout(timer);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = urlOf(request);
    const handler = url && longest(this.#handlers, url.pathname);
    try {
      if (!url) return void plain(response, 400, 'the request has no path\n');
      if (!handler) return nothingHere(response);
      await handler(request, response, url);
    } catch (error) {
      this.#options.onError(error);
      if (response.headersSent) response.destroy();
      else plain(response, 500, 'the request failed; see the log of the operator\n');
    }
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    // Without a listener, a reset of the connection would end the process.
    socket.on('error', () => socket.destroy());
    const url = urlOf(request);
    const handler = url && this.#upgrades.get(url.pathname);
    if (!url || !handler) {
      socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
      return;
    }
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    try {
      handler(request, socket, head, url);
    } catch (error) {
      this.#options.onError(error);
      socket.destroy();
    }
  }
}

function hang<T>(to: Map<string, T>, at: string, handler: T): () => void {
  if (to.has(at)) throw new Error(`${at} is taken`);
  to.set(at, handler);
  return () => {
    if (to.get(at) === handler) to.delete(at);
  };
}

function longest(handlers: ReadonlyMap<string, RequestHandler>, path: string): RequestHandler | undefined {
  let found = '';
  for (const prefix of handlers.keys()) if (prefix.length > found.length && path.startsWith(prefix)) found = prefix;
  return handlers.get(found);
}

function urlOf(request: IncomingMessage): URL | undefined {
  const path = request.url ?? '';
  // An absolute URL or `*` is for proxies.
  return path.startsWith('/') ? (URL.parse(path, 'https://operator') ?? undefined) : undefined;
}

/** Answers 404, also for a handler without anything at this path. Does not read the request's body. */
export function nothingHere(response: ServerResponse): void {
  plain(response, 404, 'there is nothing here\n');
}

function plain(response: ServerResponse, status: number, body: string): void {
  response
    .writeHead(status, { 'content-type': 'text/plain', 'content-length': Buffer.byteLength(body), connection: 'close' })
    .end(body);
}
