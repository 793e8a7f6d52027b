/** HTTP/1.1 on node:http and node:https: makes an Exchange of each request, and writes the pipeline's answer. */
import { createServer, type Server as HttpServer, type IncomingMessage } from 'node:http';
import { createServer as createSecureServer, type Server as HttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { Exchange, type UpgradeOffer } from '../exchange.ts';
import { IncomingBody } from './body.ts';
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

/** The server that listens, and how it takes a new certificate. */
export interface Http1Server {
  readonly server: HttpServer | HttpsServer;
  useTls(settings: TlsSettings): void;
  /** Is called with each connection that has been handed to the server. */
  begin(socket: Socket): void;
  /** Reports whether a request is under way on a connection, and how it ends. */
  useOf(socket: Socket): ConnectionUse;
}

export function createHttp1Server(
  { limits, events, drain, headerMemory, slowSenders, slowReaders, begunLines, upgraded, unread }: TransportState,
  tls: TlsSettings | null,
): Http1Server {
  const scheme = tls ? 'https' : 'http';
  const asksForCertificates = tls !== null && tls.clientAuth !== 'off';
  const bodyLimits = { maxBodySize: limits.maxBodySize, slowSenders };
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
    shouldUpgradeCallback: (request: IncomingMessage) => {
      // If the connection is another response's to finish, the request stays one of HTTP.
      return underWay(request.socket) === null && asksForWebSocket(request);
    },
  };

  const readers = new WeakMap<Socket, SlicedReader>();
  /** State of connections that have had a request. */
  const connections = new WeakMap<Socket, Http1Connection>();
  const broken = new WeakSet<Socket>();

  /** The response that the connection is to finish. */
  function underWay(socket: Socket): Http1Response | null {
    const last = connections.get(socket)?.last ?? null;
    return last === null || last.writableFinished ? null : last;
  }

  function connectionOf(socket: Socket): Http1Connection {
    const known = connections.get(socket);
    if (known !== undefined) return known;
    const reader = readers.get(socket);
    if (reader === undefined) throw new Error('a request came before its connection was handed over');
    const connection: Http1Connection = { openedAt: performance.now(), last: null, reader, crashed: events.crashed };
    connections.set(socket, connection);
    watch(socket);
    return connection;
  }

  const begin = (socket: Socket) => {
    const arriving = () => headerMemory.arriving(peerOf(socket), () => void socket.destroy());
    readers.set(socket, new SlicedReader(socket, arriving));
  };

  function accept(request: IncomingMessage, response: Http1Response, waitsForContinue: boolean): void {
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
      scheme,
      headers: rawHeaders,
      clientIp: peerOf(request.socket),
      body: hasBody ? new IncomingBody(request, response, bodyLimits) : null,
    });
    exchange.fault = fault;
    if (response.afterRequest !== null) exchange.upgrade = WEB_SOCKET;
    if (asksForCertificates) exchange.clientCertificate = clientCertificateOf(request.socket);
    response.exchange = exchange;
    response.drain = drain;
    response.waitsForContinue = waitsForContinue;
    response.upgradedConnections = upgraded;
    response.unreadResponses = unread;
    response.on('close', response.release);
    // Node's parser loses bytes that came in one piece behind an unsupported upgrade.
    if (upgrade) response.shouldKeepAlive = false;
    const previous = underWay(request.socket);
    const connection = connectionOf(request.socket);
    response.http1 = connection;
    connection.last = response;
    connection.reader.begins(request);
    response.heldHeaders = headerMemory.hold(exchange, headerBytes, response);
    if (previous === null) serve(exchange, response);
    else wait(request.socket, { exchange, response, previous, connection });
  }

  function serve(exchange: Exchange, response: Http1Response): void {
    if (response.heldHeaders !== null) return events.request(exchange);
    const refusal = noHeaderRoom(exchange);
    response.refuse(refusal);
    events.refused({ exchange, status: refusal.status, reason: null, bytes: Buffer.byteLength(refusal.body) });
  }

  /** Pipelined: one after another, since only safe requests may overlap (RFC 9112, section 9.3.2). */
  function wait(socket: Socket, { exchange, response, previous, connection }: Pipelined): void {
    connection.reader.waiting++;
    previous.once('close', () => {
      if (--connection.reader.waiting === 0) socket.resume();
      // 400: its body was not validly framed. Otherwise it yielded to others, which is not the request's fault.
      const reason = exchange.closedWith === 400 ? 'malformed' : null;
      if (exchange.closed && exchange.closedWith !== 0)
        events.refused({ exchange, status: exchange.closedWith, reason, bytes: 0 });
      if (previous.shouldKeepAlive && !exchange.closed) on(socket, () => serve(exchange, response));
    });
  }

  function refuseOn(socket: Socket, error: ParserError, request?: UnservedRequest): void {
    const firstLineEnds = !connections.has(socket) && begunLines.has(socket);
    const { maxUriLength } = limits;
    const refused = refuse({ socket, scheme, peer: peerOf(socket), firstLineEnds, maxUriLength }, error, request);
    if (refused !== null) events.refused(refused);
  }

  /** The parser takes no further byte of the connection: completes open answers, then ends it. */
  function unreadable(error: ParserError, socket: Socket): void {
    const last = underWay(socket);
    if (last === null || GONE.has(error.code ?? '')) {
      refuseOn(socket, error);
      // Bytes after `Connection: close` are not read.
    } else if (error.code !== 'HPE_CLOSED_CONNECTION' && !broken.has(socket)) {
      broken.add(socket);
      if (last.req.complete) last.once('finish', () => unreadable(error, socket));
      else last.bodyUnreadable();
    }
  }

  function watch(socket: Socket): void {
    const reader = {
      progressAt: performance.now(),
      get waitsForClient() {
        return socket.writableLength > 0;
      },
      cutOff: () => connections.get(socket)?.last?.cutOff(),
    };
    socket.on('drain', () => {
      reader.progressAt = performance.now();
    });
    socket.on('close', () => slowReaders.delete(reader));
    slowReaders.add(reader);
  }

  /** `step`: for one connection. */
  const on = (socket: Duplex, step: () => void) => contained(step, () => socket.destroy(), events.crashed);
  const onRequest = (request: IncomingMessage, response: Http1Response) => {
    on(request.socket, () => accept(request, response, false));
  };
  const secure = tls && createSecureServer({ ...options, ...secureOptions(tls, limits) }, onRequest);
  const server = secure ?? createServer(options, onRequest);
  server.maxHeadersCount = 0;
  server.on('checkContinue', (request, response) => {
    on(request.socket, () => accept(request, response as Http1Response, true));
  });
  // Unknown expectations are ignored (RFC 9110, section 10.1.1).
  server.on('checkExpectation', (request, response) => onRequest(request, response as Http1Response));
  server.on('connect', ({ method = '', url = '', rawHeaders }, socket) => {
    // Node.js has let go of the socket: a reset by the client would end the process.
    socket.on('error', () => socket.destroy());
    const request = { method, target: url, headers: rawHeaders };
    on(socket, () => refuseOn(socket as Socket, new Error('CONNECT is not served'), request));
  });
  server.on('upgrade', (request, socket, head) => {
    on(socket, () => {
      const rest = readers.get(socket as Socket)?.leave(head) ?? head;
      accept(request, responseOnUpgrade(request, socket as Socket, rest), false);
    });
  });
  server.on('clientError', (error: ParserError, socket) => on(socket, () => unreadable(error, socket as Socket)));
  if (secure) {
    // A failed handshake cannot be answered in HTTP.
    secure.removeAllListeners('tlsClientError');
    secure.on('tlsClientError', (_error, socket) => socket.destroy());
  }
  return {
    server,
    begin,
    useOf: (socket) => ({
      get busy() {
        return underWay(socket) !== null;
      },
      close: () => socket.destroy(),
    }),
    useTls: (settings) => secure?.setSecureContext(contextOptions(settings)),
  };
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
