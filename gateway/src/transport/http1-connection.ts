/**
 * One connection that speaks HTTP/1.1: reads its requests, one after another, makes an Exchange of each, and goes on
 * when that has its response.
 */
import type { Socket } from 'node:net';
import { Exchange, type UpgradeOffer } from '../exchange.ts';
import { goesOn } from '../http1/framing.ts';
import { type MessageHead, MessageParser, type MessageReceiver } from '../http1/message-parser.ts';
import { ParseError } from '../http1/parse-error.ts';
import { NO_SLOT, type Slots } from '../memory/slots.ts';
import { type BodyLimits, IncomingBody } from './body.ts';
import { clientCertificateOf } from './client-certificate.ts';
import { contained } from './contained.ts';
import type { ArrivingHead } from './header-memory.ts';
import { Http1Response, type ResponseConnection } from './http1-response.ts';
import { inspect } from './inspect.ts';
import type { ConnectionUse } from './open-connections.ts';
import { LINGER_MS, noHeaderRoom, type Refusal, refusalOf, type Unreadable, unreadable, verdictOf } from './refuse.ts';
import { RequestBody } from './request-body.ts';
import type { WatchedClient } from './stall-detector.ts';
import type { TransportState } from './transport-state.ts';

/** Shared by the connections of a server. */
export interface Http1Settings {
  readonly state: TransportState;
  readonly scheme: string;
  readonly asksForCertificates: boolean;
  readonly bodyLimits: BodyLimits;
  /** Bytes of a head past which no more of it is read. */
  readonly mostHeadBytes: number;
  /** Lines of a response behind which the connection goes on. */
  readonly keepAliveLines: string;
  readonly open: Slots<Http1Connection>;
}

/** Bytes that are parsed at once, if they may be chunks: one of a single byte costs a hundred times its length. */
const SLICE = 8 << 10;
/** Milliseconds of a connection in one turn of the event loop. */
const TURN_MS = 2;
/**
 * Bytes of empty lines that a client may send behind a request (RFC 9112, section 2.2): a client could keep a
 * connection busy with them.
 */
const MOST_EMPTY_BYTES = 8;
/** Bytes of a head that are not counted before it is whole. */
const SHORT_HEAD = 8 << 10;
/** Milliseconds that a connection stays open past its announced idle time: a request may be on its way. */
const IDLE_GRACE_MS = 1000;

const WEB_SOCKET: UpgradeOffer = { protocol: 'websocket', keyed: true };

/** Plain IPv4 also if the socket is dual-stack. */
export function peerOf(socket: Socket): string {
  const address = socket.remoteAddress ?? '';
  return address.startsWith('::ffff:') ? address.slice(7) : address;
}

/**
 * `open`: requests are read. `deaf`: bytes are dropped, and the connection ends behind its response, or lingers. `left`:
 * it no longer speaks HTTP.
 */
type Phase = 'open' | 'deaf' | 'left' | 'closed';

interface Unserved {
  readonly exchange: Exchange;
  readonly response: Http1Response;
}

export class Http1Connection implements MessageReceiver, ConnectionUse, WatchedClient, ResponseConnection {
  readonly socket: Socket;
  /** Monotonic milliseconds. */
  readonly openedAt = performance.now();
  progressAt = this.openedAt;
  slot = NO_SLOT;
  readonly #openSlot: number;
  readonly settings: Http1Settings;
  readonly peer: string;
  readonly #parser: MessageParser;
  #phase: Phase = 'open';
  /** To the newest request; null between requests. */
  #response: Http1Response | null = null;
  /** Body of the newest request, as long as more of it is to come. */
  #body: RequestBody | null = null;
  /** Bytes that wait for the response that is under way, or for the reader of the body. */
  #rest: Buffer | null = null;
  /** When the connection became idle, or its head began, in monotonic milliseconds. */
  #since = this.openedAt;
  /** Bytes of the head that arrives, and their counter. */
  #headBytes = 0;
  #head: ArrivingHead | null = null;
  #emptyBytes = 0;
  /** No request has come. */
  #isNew = true;
  /** The newest request, while the bytes that it came with are parsed. */
  #unserved: Unserved | null = null;

  /** Reads from now on. */
  constructor(socket: Socket, settings: Http1Settings) {
    this.socket = socket;
    this.settings = settings;
    this.peer = peerOf(socket);
    this.#parser = new MessageParser('request', this, settings.mostHeadBytes);
    this.#openSlot = settings.open.add(this);
    settings.state.slowReaders.add(this);
    socket.on('data', this.#read).on('end', this.#ended);
    socket.on('error', ignore).on('close', this.#closed).on('drain', this.#drained);
  }

  /** A request is under way, or the connection has left HTTP. */
  get busy(): boolean {
    return this.#response !== null || this.#phase === 'left';
  }

  close(): void {
    this.socket.destroy();
  }

  get isSecure(): boolean {
    return this.settings.scheme === 'https';
  }

  // --- WatchedClient: its responses

  get waitsForClient(): boolean {
    return this.socket.writableLength > 0;
  }

  cutOff(): void {
    if (this.#response === null) this.socket.destroy();
    else this.#response.cutOff();
  }

  /** Refuses a request whose head has not come in time. */
  tooSlow(): void {
    this.#guarded(() => this.#refuse({ failure: 'too-slow' }));
  }

  /** Ends the connection if it has been idle, or has been sending a head, for too long. */
  sweep(now: number): void {
    if (this.#response !== null || this.#phase !== 'open') return;
    const { keepAliveTimeoutMs, headersTimeoutMs } = this.settings.state.limits;
    const waited = now - this.#since;
    if (this.#parser.inHead) {
      if (waited > headersTimeoutMs) this.tooSlow();
    } else if (this.#isNew) {
      if (waited > headersTimeoutMs) this.socket.destroy();
    } else if (keepAliveTimeoutMs > 0 && waited > keepAliveTimeoutMs + IDLE_GRACE_MS) this.socket.destroy();
  }

  // --- reading

  readonly #read = (chunk: Buffer): void => this.#guarded(() => this.#take(chunk));

  /** A defect ends this connection, and no other. */
  #guarded(step: () => void): void {
    contained(step, () => this.socket.destroy(), this.settings.state.events.crashed);
  }

  #take(chunk: Buffer): void {
    const began = chunk.length > SLICE ? performance.now() : 0;
    for (let at = 0; at < chunk.length; ) {
      if (this.#phase !== 'open' || this.socket.destroyed) return;
      if (this.#isHeld) return this.#hold(chunk.subarray(at));
      if (at > 0 && performance.now() - began > TURN_MS) {
        this.#hold(chunk.subarray(at));
        setImmediate(this.#goOn);
        return;
      }
      const most = Math.max(SLICE, this.#parser.knownLeft);
      at += this.#parse(at === 0 && chunk.length <= most ? chunk : chunk.subarray(at, at + most));
    }
  }

  /** Requests are served one after another, since only safe ones may overlap (RFC 9112, section 9.3.2). */
  get #isHeld(): boolean {
    return this.#body === null ? this.#response !== null : this.#body.isHeld;
  }

  #hold(rest: Buffer): void {
    this.#rest = rest;
    this.socket.pause();
  }

  readonly #goOn = (): void => {
    if (this.#phase === 'closed' || this.#phase === 'left' || this.#isHeld) return;
    const rest = this.#rest;
    this.#rest = null;
    if (rest !== null) this.#read(rest);
    if (this.#rest === null && this.socket.isPaused()) this.socket.resume();
  };

  /** Returns the bytes that it has read. */
  #parse(slice: Buffer): number {
    const parser = this.#parser;
    const wasInHead = parser.inHead;
    const isBetween = !wasInHead && this.#body === null;
    const response = this.#response;
    let read = slice.length;
    try {
      read = parser.read(slice);
    } catch (error) {
      if (!(error instanceof ParseError)) throw error;
      this.#unreadable(error);
      return read;
    }
    this.#serve();
    if (parser.inHead) this.#countHead(read, wasInHead);
    else if (isBetween && this.#response === response && this.#phase === 'open') this.#countEmpty(read);
    return read;
  }

  #countHead(bytes: number, wasInHead: boolean): void {
    if (!wasInHead) this.#since = performance.now();
    const counted = Math.max(this.#headBytes, SHORT_HEAD);
    this.#headBytes += bytes;
    if (this.#headBytes <= counted) return;
    this.#head ??= this.settings.state.headerMemory.arriving(this.peer, () => void this.socket.destroy());
    if (!this.#head.take(this.#headBytes - counted)) this.socket.destroy();
  }

  #countEmpty(bytes: number): void {
    this.#emptyBytes += bytes;
    if (this.#emptyBytes > MOST_EMPTY_BYTES) this.socket.destroy();
  }

  // --- MessageReceiver

  head(head: MessageHead): void {
    const { settings } = this;
    const { headerMemory } = settings.state;
    this.#isNew = false;
    this.#headBytes = 0;
    this.#emptyBytes = 0;
    this.#head?.release();
    this.#head = null;
    const { method, headers } = head;
    if (method === 'CONNECT') return this.#refuse({ failure: 'malformed', method, target: head.target, headers });
    const { target, headerBytes, waitsForContinue, asksForWebSocket, fault } = inspect(head);
    const response = new Http1Response(this, head.minor);
    const body = head.length === 0 ? null : new RequestBody(this.#goOn, this.socket);
    const exchange = new Exchange(response, {
      method,
      target,
      scheme: settings.scheme,
      headers,
      clientIp: this.peer,
      body: body === null ? null : new IncomingBody(body, response, settings.bodyLimits),
    });
    exchange.fault = fault;
    if (asksForWebSocket) exchange.upgrade = WEB_SOCKET;
    if (settings.asksForCertificates) exchange.clientCertificate = clientCertificateOf(this.socket);
    response.exchange = exchange;
    response.waitsForContinue = waitsForContinue;
    response.keepAlive = goesOn(head);
    this.#response = response;
    this.#body = body;
    response.heldHeaders = headerMemory.hold(exchange, headerBytes, response);
    this.#unserved = { exchange, response };
  }

  /** Serves the request that the last bytes have brought, if what they hold of its body is validly framed. */
  #serve(): void {
    const unserved = this.#unserved;
    if (unserved === null) return;
    this.#unserved = null;
    const { exchange, response } = unserved;
    if (response.heldHeaders !== null) this.settings.state.events.request(exchange);
    else this.#refuseServing(unserved, noHeaderRoom(exchange), null);
  }

  #refuseServing({ exchange, response }: Unserved, refusal: Refusal, reason: 'malformed' | null): void {
    const { status, body } = refusal;
    this.settings.state.events.refused({ exchange, status, reason, bytes: Buffer.byteLength(body) });
    response.refuse(refusal);
  }

  data(chunk: Buffer): void {
    this.#body?.arrived(chunk);
  }

  end(): void {
    this.#body?.ended();
    this.#body = null;
  }

  // --- ends

  /** No further byte of the connection can be read. */
  #unreadable(error: ParseError): void {
    if (this.#response === null) return this.#refuse({ failure: error.failure, inTarget: error.inTarget });
    this.#phase = 'deaf';
    const unserved = this.#unserved;
    this.#unserved = null;
    if (unserved === null) this.#response.bodyUnreadable();
    else this.#refuseServing(unserved, unreadable(unserved.exchange), 'malformed');
  }

  #refuse(request: Unreadable): void {
    const { state, scheme } = this.settings;
    const { method = '', target = '', headers = [] } = request;
    this.#phase = 'deaf';
    const response = new Http1Response(this, 1);
    const exchange = new Exchange(response, { method, target, scheme, headers, clientIp: this.peer, body: null });
    response.exchange = exchange;
    this.#response = response;
    const { reason, answer } = verdictOf(request, state.limits.maxUriLength);
    const refusal = refusalOf(exchange, answer);
    state.events.refused({ exchange, status: refusal.status, reason, bytes: Buffer.byteLength(refusal.body) });
    response.refuse(refusal);
  }

  responded(keepAlive: boolean): void {
    this.#response = null;
    if (!keepAlive || this.#phase !== 'open') return this.#finish();
    this.#since = performance.now();
    if (this.#rest !== null) this.#goOn();
  }

  /** Whether bytes of the request are still to come, or bytes behind it are there. */
  get #hasUnread(): boolean {
    return this.#body !== null || this.#rest !== null || this.#phase === 'deaf' || this.socket.readableLength > 0;
  }

  /**
   * Lets a client that still sends read the answer: closing at once would reset the connection, and discard the unread
   * part (RFC 9112, section 9.6).
   */
  #finish(): void {
    const { socket } = this;
    if (!this.#hasUnread) return void socket.destroySoon();
    this.#phase = 'deaf';
    this.#rest = null;
    socket.resume();
    socket.end();
    const cut = setTimeout(() => socket.destroy(), LINGER_MS).unref();
    socket.once('close', () => clearTimeout(cut));
  }

  leave(): Buffer | null {
    const rest = this.#rest;
    this.#phase = 'left';
    this.#rest = null;
    this.#parser.free();
    this.socket.off('data', this.#read).off('end', this.#ended);
    // A paused connection goes on when the next listener is there.
    Reflect.set(this.socket, 'readableFlowing', null);
    return rest;
  }

  /** A client that says that it sends no more has left, as far as HTTP servers can tell. */
  readonly #ended = (): void => this.socket.destroySoon();

  readonly #drained = (): void => {
    this.progressAt = performance.now();
  };

  readonly #closed = (): void => {
    this.#phase = 'closed';
    this.#rest = null;
    this.settings.open.remove(this.#openSlot, this);
    this.settings.state.slowReaders.delete(this);
    this.#head?.release();
    const body = this.#body;
    const response = this.#response;
    this.#body = null;
    this.#response = null;
    this.#guarded(() => body?.brokeOff());
    this.#guarded(() => response?.release());
    this.#parser.free();
  };
}

function ignore(): void {}
