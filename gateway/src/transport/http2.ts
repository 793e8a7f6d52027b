/**
 * HTTP/2 (RFC 9113) on node:http2's sessions and streams: makes an Exchange of each stream, and looks after the
 * connections: pings, idle time, drain. nghttp2 underneath enforces the protocol itself.
 */
import { constants, performServerHandshake, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import type { ClientCertificate } from '../client-certificate.ts';
import { Exchange, type UpgradeOffer } from '../exchange.ts';
import { type BodyLimits, IncomingBody, sourceOf } from './body.ts';
import { clientCertificateOf } from './client-certificate.ts';
import { contained } from './contained.ts';
import { parserLimit } from './http1.ts';
import { peerOf } from './http1-connection.ts';
import { countTinyFrames, TinyFrames } from './http2-pieces.ts';
import { requestOf, WEB_SOCKET } from './http2-request.ts';
import { Http2Response } from './http2-response.ts';
import type { ConnectionUse } from './open-connections.ts';
import { NO_HEADER_ROOM, noHeaderRoom, unknownProtocol } from './refuse.ts';
import type { TransportState } from './transport-state.ts';

/** Resets each second that a client gets back after those that it may make at once, as nghttp2 has it. */
const STREAM_RESET_RATE = 33;
/** Invalid frames after which a connection ends. */
const MAX_INVALID_FRAMES = 100;
/** Streams that may be refused for their heads before a connection ends, and how many of them a second forgives. */
const MAX_REFUSED_STREAMS = 100;
const FORGIVEN_PER_SECOND = 1;
/**
 * Mebibytes of decoded heads and of pending writes on a connection, past which node:http2 resets streams in the middle
 * of their heads: more than is ever reached. Such a stream is freed after its session, which ends the process (an
 * assertion of ~Http2Session in Node.js 26.10); `HeaderMemory` counts heads instead.
 */
const SESSION_MEMORY = 1000;
/** Milliseconds after which a client that answers no ping is taken to have read our GOAWAY. */
const READS_GOAWAY_MS = 1000;
/** Bytes read from a connection from which on it may have brought more refused streams than it may. */
const WORTH_COUNTING = 16 << 10;
/** The highest stream there can be: a GOAWAY that names it announces the end and refuses nothing yet (section 6.8). */
const LAST_STREAM = 2 ** 31 - 1;

const UPGRADE: UpgradeOffer = { protocol: WEB_SOCKET, keyed: false };

interface Connection {
  readonly session: ServerHttp2Session;
  readonly scheme: string;
  readonly peer: string;
  readonly certificate: ClientCertificate | null;
  /** Monotonic milliseconds. */
  readonly openedAt: number;
  /** A trusted proxy: its clients are to blame for its streams. */
  readonly trusted: boolean;
  streams: number;
  /** Streams that have come to be requests. */
  seen: number;
  /** Streams that nghttp2 has refused, as far as is known. */
  unseen: number;
  /** Streams that were refused for their heads and are not forgiven yet. */
  refused: number;
  /** Monotonic milliseconds. */
  refusedAt: number;
  readonly socket: Socket;
  /** Bytes that had been read when unseen streams were counted last. */
  readBefore: number;
  readonly tinyFrames: TinyFrames;
  /** Monotonic milliseconds since which no stream is open. */
  idleSince: number;
  pingedAt: number;
  pingUnanswered: boolean;
  /** Resolves when the client has read our GOAWAY; null before there is one. */
  clientKnows: Promise<void> | null;
}

export class Http2Connections {
  readonly #state: TransportState;
  readonly #asksForCertificates: boolean;
  readonly #bodyLimits: BodyLimits;
  readonly #connections = new Set<Connection>();

  constructor(state: TransportState, asksForCertificates: boolean) {
    this.#state = state;
    this.#asksForCertificates = asksForCertificates;
    this.#bodyLimits = { maxBodySize: state.limits.maxBodySize, slowSenders: state.slowSenders };
  }

  accept(socket: Socket, scheme: string): ConnectionUse {
    const { limits } = this.#state;
    // A client that has sent FIN has left: HTTP/2 has no half-closed connections.
    socket.allowHalfOpen = false;
    const peer = peerOf(socket);
    const trusted = this.#state.headerMemory.trusts(peer);
    const session = performServerHandshake(socket, {
      maxSessionMemory: SESSION_MEMORY,
      maxHeaderListPairs: 2 * limits.maxHeaders + 64,
      maxSessionInvalidFrames: MAX_INVALID_FRAMES,
      streamResetBurst: limits.http2MaxResets,
      streamResetRate: STREAM_RESET_RATE,
      strictSingleValueFields: false,
      // Otherwise nghttp2 drops fields with white space at an end of their value, and serves the rest: they are refused
      // here.
      strictFieldWhitespaceValidation: false,
      settings: {
        maxConcurrentStreams: limits.http2MaxStreams,
        maxHeaderListSize: parserLimit(limits),
        enablePush: false,
        enableConnectProtocol: true,
      },
    });
    const now = performance.now();
    const connection: Connection = {
      session,
      scheme,
      peer,
      trusted,
      certificate: this.#asksForCertificates ? clientCertificateOf(socket) : null,
      openedAt: now,
      streams: 0,
      seen: 0,
      unseen: 0,
      refused: 0,
      refusedAt: now,
      socket,
      readBefore: 0,
      tinyFrames: new TinyFrames(),
      idleSince: now,
      pingedAt: now,
      pingUnanswered: false,
      clientKnows: null,
    };
    this.#connections.add(connection);
    // An error on a connection ends it with its streams, and those notify their callers.
    session.on('error', () => {});
    session.on('close', () => this.#connections.delete(connection));
    const { crashed } = this.#state.events;
    session.on('stream', (stream, _headers, _flags, raw) => {
      contained(
        () => this.#request(connection, stream, raw),
        () => stream.destroy(new Error('the request failed in the gateway')),
        crashed,
      );
    });
    return {
      get busy() {
        return connection.streams > 0;
      },
      close: () => session.destroy(),
    };
  }

  #request(connection: Connection, stream: ServerHttp2Stream, raw: readonly string[]): void {
    const { drain, events, headerMemory, limits, slowReaders } = this.#state;
    connection.streams++;
    connection.seen++;
    const response = new Http2Response(stream, connection, this.#state);
    const { fault, waitsForContinue, protocol, headerBytes, ...request } = requestOf(raw);
    const exchange = new Exchange(response, {
      ...request,
      scheme: connection.scheme,
      clientIp: connection.peer,
      body:
        stream.endAfterHeaders || protocol !== null
          ? null
          : new IncomingBody(sourceOf(stream), response, this.#bodyLimits),
    });
    exchange.fault = fault;
    if (protocol === WEB_SOCKET) exchange.upgrade = UPGRADE;
    exchange.clientCertificate = connection.certificate;
    response.exchange = exchange;
    response.waitsForContinue = waitsForContinue;
    if (!stream.endAfterHeaders) this.#countFrames(connection, stream);
    const holding = headerMemory.hold(exchange, headerBytes, response);
    slowReaders.add(response);
    stream.on('error', () => {});
    stream.on('close', () => {
      holding?.release();
      response.release();
      slowReaders.delete(response);
      if (--connection.streams === 0) connection.idleSince = performance.now();
      if (exchange.closedWith === NO_HEADER_ROOM) this.#refused(connection, 1);
      contained(
        () => exchange.close(),
        () => {},
        events.crashed,
      );
    });
    if (drain.ends(connection.openedAt)) this.#announceEnd(connection);
    const tooMuch = headerBytes > limits.maxHeaderBytes || request.headers.length > 2 * limits.maxHeaders;
    if (holding === null || tooMuch || fault !== null) this.#refused(connection, 1);
    const served = protocol === null || protocol === WEB_SOCKET;
    if (holding !== null && served) return events.request(exchange);
    const refusal = holding === null ? noHeaderRoom(exchange) : unknownProtocol(exchange);
    response.refuse(refusal);
    events.refused({ exchange, status: refusal.status, reason: null, bytes: Buffer.byteLength(refusal.body) });
  }

  /**
   * A head that is refused costs as much as a served one: a connection that brings little else ends. One of a trusted
   * proxy stays, since others use it.
   */
  #refused(connection: Connection, count: number): void {
    if (connection.trusted || connection.session.destroyed) return;
    const now = performance.now();
    const forgiven = ((now - connection.refusedAt) / 1000) * FORGIVEN_PER_SECOND;
    connection.refused = Math.max(0, connection.refused - forgiven) + count;
    connection.refusedAt = now;
    if (connection.refused <= MAX_REFUSED_STREAMS) return;
    this.#state.events.yielded('header-memory', 'ended', connection.peer);
    connection.session.destroy(new Error('too many refused streams'), constants.NGHTTP2_ENHANCE_YOUR_CALM);
  }

  /** A connection of a trusted proxy stays, since others use it: of these, each stream has a count of its own. */
  #countFrames(connection: Connection, stream: ServerHttp2Stream): void {
    const { session, trusted, tinyFrames } = connection;
    countTinyFrames(stream, trusted ? new TinyFrames() : tinyFrames, () => {
      if (trusted) stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
      else session.destroy(new Error('too many tiny frames'), constants.NGHTTP2_ENHANCE_YOUR_CALM);
    });
  }

  /** Counts streams that nghttp2 resets unreported, for more header fields or bytes than the parser's limits. */
  #countUnseen(connection: Connection): void {
    const opened = ((connection.session.state.lastProcStreamID ?? 0) + 1) >> 1;
    const unseen = Math.max(0, opened - connection.seen);
    if (unseen > connection.unseen) this.#refused(connection, unseen - connection.unseen);
    connection.unseen = unseen;
  }

  /**
   * Ends the connection with its streams: the client opens no further ones, and the last GOAWAY names those that exist,
   * so that later requests go elsewhere (section 6.8). nghttp2 takes no stream behind its first GOAWAY, and stops
   * reading if no stream is open: so one stays open, and its answer waits for the client to know. Otherwise later
   * requests would lie unread, and end the connection with a reset instead of a GOAWAY.
   */
  #announceEnd(connection: Connection): void {
    const { session } = connection;
    if (connection.clientKnows !== null || session.closed || session.destroyed) return;
    session.goaway(constants.NGHTTP2_NO_ERROR, LAST_STREAM);
    connection.clientKnows = new Promise((resolve) => {
      const finish = () => {
        resolve();
        if (!session.destroyed) session.close();
      };
      const late = setTimeout(finish, READS_GOAWAY_MS);
      // Pings overtake data written in the same turn.
      setImmediate(() => {
        if (session.destroyed) return;
        session.ping(() => {
          clearTimeout(late);
          finish();
        });
      });
    });
  }

  /** Ends connections that bring little but streams that are refused. Called often, so that it asks those alone that were read from. */
  countRefused(): void {
    for (const connection of this.#connections) {
      const { socket, session } = connection;
      if (session.destroyed || socket.bytesRead - connection.readBefore < WORTH_COUNTING) continue;
      connection.readBefore = socket.bytesRead;
      this.#countUnseen(connection);
    }
  }

  /** Closes a connection without streams, if it is time. A stream whose head does not come whole keeps no session open. */
  #closeIdle({ session, socket, idleSince }: Connection, now: number): void {
    const { keepAliveTimeoutMs, headersTimeoutMs } = this.#state.limits;
    const idleMs = now - idleSince;
    if (socket.readableEnded || (keepAliveTimeoutMs > 0 && idleMs >= keepAliveTimeoutMs + headersTimeoutMs)) {
      session.destroy();
    } else if (keepAliveTimeoutMs > 0 && idleMs >= keepAliveTimeoutMs) session.close();
  }

  /** Pings connections, and closes those idle for the keep-alive time or without an answer to a ping. */
  sweep(now: number): void {
    const { pingIntervalMs } = this.#state.limits;
    for (const connection of this.#connections) {
      const { session } = connection;
      if (session.destroyed) continue;
      this.#countUnseen(connection);
      if (session.destroyed) continue;
      if (connection.streams === 0) this.#closeIdle(connection, now);
      if (now - connection.pingedAt < pingIntervalMs) continue;
      if (connection.pingUnanswered) {
        session.destroy();
        continue;
      }
      connection.pingedAt = now;
      connection.pingUnanswered = true;
      session.ping((error) => {
        if (!error) connection.pingUnanswered = false;
      });
    }
  }

  /**
   * Ends each connection when its streams have ended; one without streams soon, and long before the process: a
   * connection that ends with the last byte cannot repeat it if it was lost.
   */
  beginDrain(): void {
    for (const connection of this.#connections) this.#announceEnd(connection);
  }

  /** Ends all connections now. */
  cut(): void {
    for (const { session } of this.#connections) session.destroy();
  }
}
