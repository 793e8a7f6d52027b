/** One connection to a control plane: hello, welcome, messages and heartbeats, until either side ends it. */
import { WebSocket } from 'ws';
import { messageOf } from '../text/message-of.ts';
import { VERSION } from '../version.ts';
import { CLOSE_CODES, type CloseReason, closeReasonOf, GOING_AWAY } from './close-codes.ts';
import {
  type Drift,
  type Hello,
  MAX_MESSAGE_BYTES,
  type Notice,
  type Status,
  SUBPROTOCOL,
  type ToDataPlane,
  type Welcome,
} from './messages.ts';
import { readToDataPlane } from './read-message.ts';

/** For the WebSocket's handshake, and again for `welcome`. */
const OPEN_MS = 15_000;
/** Heartbeats without an answer. */
const MISSED = 3;
/** Milliseconds that the control plane has to answer a close. */
const CLOSE_MS = 2_000;

export interface SessionEvents {
  welcomed(welcome: Welcome): void;
  wanted(notice: Notice): void;
  drift(drift: Drift): void;
  /** For each heartbeat. */
  served(): string | null;
}

export interface SessionEnd {
  /** In words, for the log. */
  readonly why: string;
  /** The control plane's refusal; null if the connection just ended. */
  readonly refused: CloseReason | null;
  readonly retry: 'backoff' | 'slow';
  /** Milliseconds after which to reconnect; null if the control plane did not say. */
  readonly afterMs: number | null;
  /** Milliseconds since `welcome`; 0 without one. */
  readonly lastedMs: number;
}

export class Session {
  /** Never rejects. */
  readonly ended: Promise<SessionEnd>;
  readonly #socket: WebSocket;
  readonly #events: SessionEvents;
  readonly #hello: () => Hello;
  #welcomedAt: number | null = null;
  #heardAt = 0;
  /** Runs until `welcome`, then between heartbeats. */
  #timer: NodeJS.Timeout;
  #why: string | null = null;
  #refused: CloseReason | null = null;
  #retry: SessionEnd['retry'] = 'backoff';
  #afterMs: number | null = null;

  /** `hello`: called when the connection is open. `ca`: PEM, in place of the system's roots. */
  constructor(url: URL, hello: () => Hello, events: SessionEvents, ca?: string) {
    this.#hello = hello;
    this.#events = events;
    const socket = new WebSocket(url, [SUBPROTOCOL], {
      handshakeTimeout: OPEN_MS,
      maxPayload: MAX_MESSAGE_BYTES,
      perMessageDeflate: false,
      followRedirects: false,
      ...(ca === undefined ? {} : { ca }),
      headers: { 'user-agent': `gw/${VERSION}` },
    });
    this.#socket = socket;
    this.#timer = setTimeout(() => this.#cut('the control plane did not answer'), 2 * OPEN_MS);
    socket.on('open', () => this.#send(this.#hello()));
    socket.on('message', (data, isBinary) => this.#heard(data.toString(), isBinary));
    socket.on('unexpected-response', (_request, response) => {
      this.#answered(response.statusCode ?? 0);
      response.destroy();
      socket.terminate();
    });
    socket.on('error', (error) => {
      this.#why ??= messageOf(error);
    });
    this.ended = new Promise((resolve) => {
      socket.once('close', (code) => {
        clearTimeout(this.#timer);
        resolve(this.#end(code));
      });
    });
  }

  /** Dropped without a connection: reports are repeated in the next one. */
  report(status: Status): void {
    if (this.#welcomedAt !== null) this.#send(status);
  }

  /** Closes on our side. */
  close(): void {
    this.#why ??= 'closed';
    this.#socket.close(GOING_AWAY);
    setTimeout(() => this.#socket.terminate(), CLOSE_MS).unref();
  }

  #send(message: Hello | Status | { type: 'heartbeat'; artifact_hash: string | null }): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message), () => {});
  }

  #heard(text: string, isBinary: boolean): void {
    this.#heardAt = performance.now();
    try {
      if (isBinary) throw new Error('messages are text');
      const message = readToDataPlane(text);
      if (message !== null) this.#take(message);
    } catch (error) {
      this.#retry = 'slow';
      this.#why = `the control plane sent a message that is not understood: ${messageOf(error)}`;
      this.#socket.close(CLOSE_CODES.malformed.code, 'malformed');
    }
  }

  #take(message: ToDataPlane): void {
    switch (message.type) {
      case 'refused':
        this.#refused = message.reason;
        this.#why = message.detail;
        return;
      case 'goodbye':
        this.#afterMs = message.after_ms;
        this.#why = 'the control plane closes';
        return;
      case 'welcome':
        return this.#welcome(message);
      case 'heartbeat':
        return;
    }
    if (this.#welcomedAt === null) throw new Error(`"${message.type}" came before "welcome"`);
    if (message.type === 'drift') this.#events.drift(message);
    else this.#events.wanted(message);
  }

  #welcome(welcome: Welcome): void {
    if (this.#welcomedAt !== null) throw new Error('only one "welcome" is allowed');
    this.#welcomedAt = performance.now();
    clearTimeout(this.#timer);
    this.#beat(welcome.heartbeat_seconds * 1000, Math.random());
    this.#events.welcomed(welcome);
    if (welcome.artifact !== null) this.#events.wanted(welcome.artifact);
  }

  /** `phase`: part of the first interval, so that sessions begun at once do not beat in step. */
  #beat(everyMs: number, phase = 1): void {
    this.#timer = setTimeout(() => {
      if (performance.now() - this.#heardAt > MISSED * everyMs) {
        return this.#cut('the control plane no longer responds');
      }
      this.#send({ type: 'heartbeat', artifact_hash: this.#events.served() });
      this.#beat(everyMs);
    }, everyMs * phase);
  }

  #cut(why: string): void {
    this.#why ??= why;
    this.#socket.terminate();
  }

  /** The upgrade was answered with something else than a WebSocket. */
  #answered(status: number): void {
    this.#why = `the control plane answered with HTTP ${status} instead of a WebSocket of ${SUBPROTOCOL}`;
    // Proxies answer 404 and 5xx while no server is behind them.
    if (status === 400 || status === 426 || (status >= 300 && status < 400)) this.#retry = 'slow';
  }

  #end(code: number): SessionEnd {
    const refused = this.#refused ?? closeReasonOf(code) ?? null;
    return {
      why: this.#why ?? (refused === null ? `the connection ended (${code})` : CLOSE_CODES[refused].when),
      refused,
      retry: refused === null ? this.#retry : CLOSE_CODES[refused].retry,
      afterMs: this.#afterMs,
      lastedMs: this.#welcomedAt === null ? 0 : performance.now() - this.#welcomedAt,
    };
  }
}
