/** Writes the pipeline's answer to one HTTP/2 stream. */
import { validateHeaderValue } from 'node:http';
import { constants, type ServerHttp2Stream } from 'node:http2';
import { type Duplex, Writable } from 'node:stream';
import { CLIENT_CLOSED, type Exchange, type HeaderList, type Responder, type ResponseSink } from '../exchange.ts';
import { NO_SLOT } from '../memory/slots.ts';
import type { BodyOwner } from './body.ts';
import { endInPieces } from './pieces.ts';
import { gaveWay, noResponseRoom, type Refusal, tooSlow } from './refuse.ts';
import type { WatchedClient } from './stall-detector.ts';
import { takesTrailers } from './takes-trailers.ts';
import {
  ONE_PIECE,
  type SlowlyRead,
  type UnreadResponse,
  type UnreadResponses,
  watchWrites,
} from './unread-responses.ts';
import type { UpgradedConnections } from './upgraded.ts';

/** Headers of HTTP/1.1 connections (RFC 9113, section 8.2.2). */
const CONNECTION_SPECIFIC = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade', 'http2-settings'],
]);
/** Statuses without a body. */
const BODILESS = new Set([204, 205, 304]);

/** State of an ending connection. */
export interface EndingConnection {
  /** Resolves when the client knows that the connection ends; null if it goes on. */
  readonly clientKnows: Promise<void> | null;
}

/** Shared by the responses of a transport. */
export interface SharedByResponses {
  readonly upgraded: UpgradedConnections;
  readonly unread: UnreadResponses;
}

export class Http2Response implements Responder, BodyOwner, WatchedClient, SlowlyRead {
  readonly #stream: ServerHttp2Stream;
  readonly #connection: EndingConnection;
  readonly #shared: SharedByResponses;
  #upgraded = false;
  exchange: Exchange | null = null;
  waitsForContinue = false;
  progressAt = performance.now();
  slot = NO_SLOT;
  #trailers: HeaderList | null = null;

  /** Null as long as nothing of it has to wait for the client. */
  #unread: UnreadResponse | null = null;

  constructor(stream: ServerHttp2Stream, connection: EndingConnection, shared: SharedByResponses) {
    this.#stream = stream;
    this.#connection = connection;
    this.#shared = shared;
  }

  /** The stream has ended. */
  release(): void {
    this.#unread?.end();
  }

  send(exchange: Exchange, status: number, headers: HeaderList, body: Uint8Array | string | null): void {
    const length = body === null ? 0 : typeof body === 'string' ? Buffer.byteLength(body) : body.length;
    if (status !== 204 && status !== 304) headers.push('content-length', String(status === 205 ? 0 : length));
    const bodiless = length === 0 || exchange.method === 'HEAD' || BODILESS.has(status);
    if (length > ONE_PIECE && !bodiless && body !== null) return this.#long(exchange, status, headers, body);
    if (!this.#head(status, headers, bodiless) || bodiless) return;
    // Later code in this turn may reuse the memory behind a short body, and the session writes at the turn's end.
    this.#stream.end(body instanceof Uint8Array ? Buffer.from(body) : body);
  }

  stream(exchange: Exchange, status: number, headers: HeaderList): ResponseSink {
    const bodiless = exchange.method === 'HEAD' || BODILESS.has(status);
    if (!this.#head(status, headers, bodiless, takesTrailers(exchange)) || bodiless) return discardingSink();
    return this.#streaming();
  }

  #long(exchange: Exchange, status: number, headers: HeaderList, body: Uint8Array | string): void {
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    if (!this.#unreadBytes().sends(bytes)) {
      const refusal = noResponseRoom(exchange);
      exchange.close(refusal.status);
      return this.refuse(refusal);
    }
    if (!this.#head(status, headers, false)) return;
    this.#noteProgress();
    endInPieces(this.#stream, bytes);
  }

  #unreadBytes(): UnreadResponse {
    this.#unread ??= this.#shared.unread.of(this);
    return this.#unread;
  }

  /** The stream as a sink whose writer waits for the client. */
  #streaming(): ServerHttp2Stream & ResponseSink {
    const stream = this.#stream;
    this.#noteProgress();
    const counted = (hasRoom: boolean) => {
      if (!hasRoom) this.cutOff();
    };
    watchWrites(
      stream,
      () => this.#unreadBytes().isFull(stream),
      (body) => counted(this.#unreadBytes().sends(body)),
    );
    return Object.assign(stream, {
      endWith: (body: Uint8Array) => {
        counted(this.#unreadBytes().sends(body));
        if (!this.#gone) endInPieces(stream, body);
      },
    });
  }

  stalls(): void {
    if (!this.#unreadBytes().stalls()) this.cutOff();
  }

  #noteProgress(): void {
    this.#stream.on('drain', () => {
      this.progressAt = performance.now();
    });
  }

  /** node:http2 keeps it as long as the stream. */
  inform(_exchange: Exchange, status: number, headers: HeaderList, received: () => void): void {
    if (this.#gone || this.headSent) return received();
    this.#stream.additionalHeaders(Object.assign(fieldsOf(headers), { ':status': status }));
  }

  /** Answers with 200 (RFC 8441, section 5.1). */
  upgrade(_exchange: Exchange, headers: HeaderList, stopping: () => void): Duplex | null {
    if (!this.#head(200, headers, false)) return null;
    this.#upgraded = true;
    this.#shared.upgraded.add(this.#stream, stopping);
    return this.#streaming();
  }

  whenStopping(listener: () => void): () => void {
    return this.#shared.upgraded.whenStopping(listener);
  }

  trailers(fields: HeaderList): void {
    this.#trailers = fields;
  }

  get waitsForClient(): boolean {
    return this.#stream.writableLength > 0;
  }

  /** The client does not read. */
  cutOff(): void {
    if (!this.#upgraded) this.exchange?.close(CLIENT_CLOSED);
    this.#stream.destroy(new Error('the client does not read'));
  }

  get headSent(): boolean {
    return this.#stream.headersSent;
  }

  abort(): void {
    // Resets with INTERNAL_ERROR. Its close() would end the body first, and so make half of one look whole.
    this.#stream.destroy(new Error('the response cannot be completed'));
  }

  bodyWanted(): void {
    if (this.waitsForContinue && !this.#gone && !this.headSent) this.#stream.additionalHeaders({ ':status': 100 });
  }

  bodyTooSlow(): void {
    const { exchange } = this;
    if (exchange === null || this.headSent) return this.abort();
    const refusal = tooSlow(exchange);
    exchange.close(refusal.status);
    this.refuse(refusal);
  }

  giveWay(exchange: Exchange): void {
    if (this.headSent) {
      exchange.close(CLIENT_CLOSED);
      return this.abort();
    }
    const refusal = gaveWay(exchange);
    exchange.close(refusal.status);
    this.refuse(refusal);
  }

  /** An answer of the transport's own. */
  refuse({ status, headers, body }: Refusal): void {
    if (this.#head(status, headers, false)) this.#stream.end(body);
  }

  get #gone(): boolean {
    return this.#stream.destroyed || this.#stream.closed;
  }

  /** Returns false if the client has gone. */
  #head(status: number, headers: HeaderList, endStream: boolean, waitForTrailers = false): boolean {
    if (this.#gone) return false;
    const fields = [':status', String(status)];
    for (let i = 0; i < headers.length; i += 2) {
      const name = headers[i] as string;
      const value = headers[i + 1] as string;
      if (CONNECTION_SPECIFIC.has(name)) continue;
      validateHeaderValue(name, value);
      fields.push(name, value);
    }
    const stream = this.#stream;
    // The connection reads on while a stream is open: this one stays so until the client knows that it ends.
    const { clientKnows } = this.#connection;
    const waits = waitForTrailers || (clientKnows !== null && !endStream);
    if (waits) stream.once('wantTrailers', () => void this.#finish(clientKnows));
    else if (this.exchange?.bodyStream) stream.once('finish', () => this.#dropUnread());
    stream.respond(fields, { endStream, waitForTrailers: waits });
    return true;
  }

  async #finish(clientKnows: Promise<void> | null): Promise<void> {
    if (clientKnows !== null) await clientKnows;
    if (this.#gone) return;
    try {
      this.#stream.sendTrailers(fieldsOf(this.#trailers ?? []));
    } catch {
      // Nothing awaits this: what node:http2 refuses in a trailer ends the stream alone.
      this.#stream.close(constants.NGHTTP2_INTERNAL_ERROR);
      return;
    }
    if (this.exchange?.bodyStream) setImmediate(() => this.#dropUnread());
  }

  /**
   * Drops an unread body: the client need not send the rest (section 8.1). Resets with NO_ERROR; close() would wait for
   * a reader of the received part, and the connection with it.
   */
  #dropUnread(): void {
    if (!this.#stream.readableEnded) this.#stream.destroy();
  }
}

/** Groups the values of each name, as node:http2 takes them in calls that accept no list. */
function fieldsOf(headers: HeaderList): Record<string, string | string[]> {
  const fields: Record<string, string | string[]> = Object.create(null);
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string;
    const value = headers[i + 1] as string;
    const before = fields[name];
    fields[name] = before === undefined ? value : [before, value].flat();
  }
  return fields;
}

/** Returns the sink for the body of an answer without one. */
function discardingSink(): Writable {
  return new Writable({ write: (_chunk, _encoding, done) => done() });
}
