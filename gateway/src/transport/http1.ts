/** HTTP/1.1 on node:http and node:https: makes an Exchange of each request, and writes the pipeline's answer. */
import { createServer, type Server as HttpServer, type IncomingMessage } from 'node:http';
import { createServer as createSecureServer, type Server as HttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { Exchange, type UpgradeOffer } from '../exchange.ts';
import { type BodyLimits, IncomingBody } from './body.ts';
import { clientAuthOptions, clientCertificateOf } from './client-certificate.ts';
import { contained } from './contained.ts';
import { type Http1Connection, Http1Response } from './http1-response.ts';
import { asksForWebSocket, responseOnUpgrade } from './http1-upgrade.ts';
import { inspect } from './inspect.ts';
import type { ConnectionUse } from './open-connections.ts';
import { SlicedReader } from './read-in-slices.ts';
import { GONE, noHeaderRoom, type ParserError, refuse, type UnservedRequest } from './refuse.ts';
import type { TlsVersion } from './tls.ts';
import type { TlsSettings, TransportLimits, TransportState } from './transport-state.ts';

/**
 * Returns the parser's limit, which lies above all of the gateway's together, so that the gateway refuses first
 * (docs/decisions.md#refusals-are-ours), and little above them: until it is reached, an arriving head is held.
 */
export function parserLimit({ maxHeaderBytes, maxUriLength }: TransportLimits): number {
  return Math.min(maxHeaderBytes + maxUriLength + 65536, 64 << 20);
}

const WEB_SOCKET: UpgradeOffer = { protocol: 'websocket', keyed: true };

/** Plain IPv4 also if the socket is dual-stack. */
export function peerOf(socket: Socket): string {
  const address = socket.remoteAddress ?? '';
  return address.startsWith('::ffff:') ? address.slice(7) : address;
}

/** A request that comes while another one of its connection is under way. */
interface Pipelined {
  readonly exchange: Exchange;
  readonly response: Http1Response;
  readonly previous: Http1Response;
  readonly connection: Http1Connection;
}

/** The server that listens, and its connections that speak HTTP/1.1. */
export class Http1Server {
  readonly server: HttpServer | HttpsServer;
  readonly #secure: HttpsServer | null;
  readonly #state: TransportState;
  readonly #scheme: string;
  readonly #asksForCertificates: boolean;
  readonly #bodyLimits: BodyLimits;
  readonly #readers = new WeakMap<Socket, SlicedReader>();
  /** State of connections that have had a request. */
  readonly #connections = new WeakMap<Socket, Http1Connection>();
  readonly #broken = new WeakSet<Socket>();

  constructor(state: TransportState, tls: TlsSettings | null) {
    const { limits, slowSenders } = state;
    this.#state = state;
    this.#scheme = tls ? 'https' : 'http';
    this.#asksForCertificates = tls !== null && tls.clientAuth !== 'off';
    this.#bodyLimits = { maxBodySize: limits.maxBodySize, slowSenders };
    const onRequest = (request: IncomingMessage, response: Http1Response) => {
      this.#on(request.socket, () => this.#accept(request, response, false));
    };
    const options = this.#options();
    this.#secure = tls && createSecureServer({ ...options, ...secureOptions(tls, limits) }, onRequest);
    this.server = this.#secure ?? createServer(options, onRequest);
    this.server.maxHeadersCount = 0;
    this.#listen(onRequest);
  }

  useTls(settings: TlsSettings): void {
    this.#secure?.setSecureContext(contextOptions(settings));
  }

  /** Is called with each connection that has been handed to the server. */
  begin(socket: Socket): void {
    const { headerMemory } = this.#state;
    const arriving = () => headerMemory.arriving(peerOf(socket), () => void socket.destroy());
    this.#readers.set(socket, new SlicedReader(socket, () => this.#underWay(socket) === null, arriving));
  }

  /** Reports whether a request is under way on a connection, and how it ends. */
  useOf(socket: Socket): ConnectionUse {
    const isBusy = () => this.#underWay(socket) !== null;
    return {
      get busy() {
        return isBusy();
      },
      close: () => socket.destroy(),
    };
  }

  #options() {
    const { limits } = this.#state;
    return {
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
      shouldUpgradeCallback: (request: IncomingMessage) => {
        // If the connection is another response's to finish, the request stays one of HTTP.
        return this.#underWay(request.socket) === null && asksForWebSocket(request);
      },
    };
  }

  #listen(onRequest: (request: IncomingMessage, response: Http1Response) => void): void {
    const { server } = this;
    server.on('checkContinue', (request, response) => {
      this.#on(request.socket, () => this.#accept(request, response as Http1Response, true));
    });
    // Unknown expectations are ignored (RFC 9110, section 10.1.1).
    server.on('checkExpectation', (request, response) => onRequest(request, response as Http1Response));
    server.on('connect', ({ method = '', url = '', rawHeaders }, socket) => {
      // Node.js has let go of the socket: a reset by the client would end the process.
      socket.on('error', () => socket.destroy());
      const request = { method, target: url, headers: rawHeaders };
      this.#on(socket, () => this.#refuse(socket as Socket, new Error('CONNECT is not served'), request));
    });
    server.on('upgrade', (request, socket, head) => {
      this.#on(socket, () => {
        const rest = this.#readers.get(socket as Socket)?.detach(head) ?? head;
        this.#accept(request, responseOnUpgrade(request, socket as Socket, rest), false);
      });
    });
    server.on('clientError', (error: ParserError, socket) => {
      this.#on(socket, () => this.#unreadable(error, socket as Socket));
    });
    if (this.#secure === null) return;
    // A failed handshake cannot be answered in HTTP.
    this.#secure.removeAllListeners('tlsClientError');
    this.#secure.on('tlsClientError', (_error, socket) => socket.destroy());
  }

  /** `step`: for one connection. */
  #on(socket: Duplex, step: () => void): void {
    contained(step, () => socket.destroy(), this.#state.events.crashed);
  }

  /** The response that the connection is to finish. */
  #underWay(socket: Socket): Http1Response | null {
    const last = this.#connections.get(socket)?.last ?? null;
    return last === null || last.writableFinished ? null : last;
  }

  #connectionOf(socket: Socket): Http1Connection {
    const known = this.#connections.get(socket);
    if (known !== undefined) return known;
    const reader = this.#readers.get(socket);
    if (reader === undefined) throw new Error('a request came before its connection was handed over');
    const { crashed } = this.#state.events;
    const connection: Http1Connection = { openedAt: performance.now(), last: null, reader, crashed };
    this.#connections.set(socket, connection);
    this.#watch(socket);
    return connection;
  }

  #accept(request: IncomingMessage, response: Http1Response, waitsForContinue: boolean): void {
    const { drain, headerMemory, upgraded, unread } = this.#state;
    // A request that was read before the connection ended.
    if (request.socket.destroyed) return;
    const { rawHeaders, httpVersionMajor, httpVersionMinor, url = '/' } = request;
    const { target, hasBody, upgrade, fault, headerBytes } = inspect({
      url,
      rawHeaders,
      httpVersionMajor,
      httpVersionMinor,
    });
    const exchange = new Exchange(response, {
      method: request.method ?? 'GET',
      target,
      scheme: this.#scheme,
      headers: rawHeaders,
      clientIp: peerOf(request.socket),
      body: hasBody ? new IncomingBody(request, response, this.#bodyLimits) : null,
    });
    exchange.fault = fault;
    if (response.afterRequest !== null) exchange.upgrade = WEB_SOCKET;
    if (this.#asksForCertificates) exchange.clientCertificate = clientCertificateOf(request.socket);
    response.exchange = exchange;
    response.drain = drain;
    response.waitsForContinue = waitsForContinue;
    response.upgradedConnections = upgraded;
    response.unreadResponses = unread;
    response.on('close', response.release);
    // Node's parser loses bytes that came in one piece behind an unsupported upgrade.
    if (upgrade) response.shouldKeepAlive = false;
    const previous = this.#underWay(request.socket);
    const connection = this.#connectionOf(request.socket);
    response.http1 = connection;
    connection.last = response;
    connection.reader.begins(request);
    response.heldHeaders = headerMemory.hold(exchange, headerBytes, response);
    if (previous === null) this.#serve(exchange, response);
    else this.#wait(request.socket, { exchange, response, previous, connection });
  }

  #serve(exchange: Exchange, response: Http1Response): void {
    const { events } = this.#state;
    if (response.heldHeaders !== null) return events.request(exchange);
    const refusal = noHeaderRoom(exchange);
    response.refuse(refusal);
    events.refused({ exchange, status: refusal.status, reason: null, bytes: Buffer.byteLength(refusal.body) });
  }

  /** Pipelined: one after another, since only safe requests may overlap (RFC 9112, section 9.3.2). */
  #wait(socket: Socket, { exchange, response, previous, connection }: Pipelined): void {
    const { events } = this.#state;
    connection.reader.waiting++;
    previous.once('close', () => {
      if (--connection.reader.waiting === 0) socket.resume();
      // 400: its body was not validly framed. Otherwise it yielded to others, which is not the request's fault.
      const reason = exchange.closedWith === 400 ? 'malformed' : null;
      if (exchange.closed && exchange.closedWith !== 0)
        events.refused({ exchange, status: exchange.closedWith, reason, bytes: 0 });
      if (previous.shouldKeepAlive && !exchange.closed) this.#on(socket, () => this.#serve(exchange, response));
    });
  }

  #refuse(socket: Socket, error: ParserError, request?: UnservedRequest): void {
    const { begunLines, events, limits } = this.#state;
    const firstLineEnds = !this.#connections.has(socket) && begunLines.has(socket);
    const { maxUriLength } = limits;
    const refused = refuse(
      { socket, scheme: this.#scheme, peer: peerOf(socket), firstLineEnds, maxUriLength },
      error,
      request,
    );
    if (refused !== null) events.refused(refused);
  }

  /** The parser takes no further byte of the connection: completes open answers, then ends it. */
  #unreadable(error: ParserError, socket: Socket): void {
    const last = this.#underWay(socket);
    if (last === null || GONE.has(error.code ?? '')) {
      this.#refuse(socket, error);
      // Bytes after `Connection: close` are not read.
    } else if (error.code !== 'HPE_CLOSED_CONNECTION' && !this.#broken.has(socket)) {
      this.#broken.add(socket);
      if (last.req.complete) last.once('finish', () => this.#unreadable(error, socket));
      else last.bodyUnreadable();
    }
  }

  #watch(socket: Socket): void {
    const { slowReaders } = this.#state;
    const reader = {
      progressAt: performance.now(),
      get waitsForClient() {
        return socket.writableLength > 0;
      },
      cutOff: () => this.#connections.get(socket)?.last?.cutOff(),
    };
    socket.on('drain', () => {
      reader.progressAt = performance.now();
    });
    socket.on('close', () => slowReaders.delete(reader));
    slowReaders.add(reader);
  }
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
