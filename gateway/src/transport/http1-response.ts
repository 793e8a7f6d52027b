/** Writes the pipeline's answer to one HTTP/1.1 request. */
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { type Duplex, Writable } from 'node:stream';
import { CLIENT_CLOSED, type Exchange, type HeaderList, type Responder, type ResponseSink } from '../exchange.ts';
import { addHeaders, dateLine } from '../http1/head.ts';
import type { Holding } from '../memory/buffer-budget.ts';
import { atEndOfTick } from '../scheduling/end-of-tick.ts';
import type { BodyOwner } from './body.ts';
import { contained } from './contained.ts';
import type { HeaderHolder } from './header-memory.ts';
import { endInPieces } from './pieces.ts';
import { gaveWay, noResponseRoom, type Refusal, tooSlow, unreadable } from './refuse.ts';
import { takesTrailers } from './takes-trailers.ts';
import type { TransportState } from './transport-state.ts';
import { longBody, ONE_PIECE, type SlowlyRead, type UnreadResponse, watchWrites } from './unread-responses.ts';

/** The connection that the response goes out on. */
export interface ResponseConnection {
  readonly socket: Socket;
  readonly isSecure: boolean;
  /** Monotonic milliseconds. */
  readonly openedAt: number;
  readonly settings: { readonly state: TransportState; readonly keepAliveLines: string };
  /** All of the response has left. The connection goes on with its next request, or ends. */
  responded(keepAlive: boolean): void;
  /** Gives the socket up for another protocol; returns what has been read behind the request. */
  leave(): Buffer | null;
}

/** How the end of a body is told. */
type Framing = 'none' | 'length' | 'chunked' | 'closing';

/** Bytes that wait in a sink, beside those in the socket, from which on its writer has to pause. */
const SINK_BYTES = (64 << 10) + 1;

export class Http1Response implements Responder, BodyOwner, SlowlyRead, HeaderHolder {
  exchange: Exchange | null = null;
  /** The headers of its request, while it is open. */
  heldHeaders: Holding | null = null;
  waitsForContinue = false;
  /** Another request may follow on the connection. */
  keepAlive = false;
  headSent = false;
  readonly connection: ResponseConnection;
  readonly #minor: number;
  #framing: Framing = 'none';
  /** Content-Length of a body that streams. */
  #length = 0;
  /** Lines of the fields behind the body. */
  #trailers = '';
  #sink: ResponseBody | null = null;
  #upgraded = false;
  /** Null as long as nothing of it has to wait for the client. */
  #unread: UnreadResponse | null = null;
  #released = false;

  /** `minor`: the client speaks HTTP/1.`minor`. */
  constructor(connection: ResponseConnection, minor: number) {
    this.connection = connection;
    this.#minor = minor;
  }

  send(exchange: Exchange, status: number, headers: HeaderList, body: Uint8Array | string | null): void {
    const isFramed = status !== 204 && status !== 304;
    const payload = isFramed && status !== 205 ? body : null;
    const bytes = typeof payload === 'string' ? Buffer.from(payload) : payload;
    if (isFramed) headers.push('content-length', String(bytes?.length ?? 0));
    const sent = exchange.method === 'HEAD' ? null : bytes;
    const isLong = sent !== null && sent.length > ONE_PIECE;
    if (isLong && !this.#unreadBytes().sends(sent)) return this.#end(exchange, noResponseRoom(exchange));
    const head = this.#head(status, headers);
    if (!isLong) return this.#write(sent === null ? head : head + latin1(sent));
    const sink = this.#streaming(head);
    atEndOfTick(() => endInPieces(sink, sent));
  }

  stream(_exchange: Exchange, status: number, headers: HeaderList): ResponseSink {
    return this.#streaming(this.#head(status, headers));
  }

  #streaming(head: string): ResponseBody {
    const sink = new ResponseBody(this, head, this.#framing, this.#length);
    this.#sink = sink;
    return sink;
  }

  /** Writes the last bytes when this turn of the event loop ends. */
  #write(text: string): void {
    atEndOfTick(() => this.finishWith(text));
  }

  #unreadBytes(): UnreadResponse {
    this.#unread ??= this.connection.settings.state.unread.of(this);
    return this.#unread;
  }

  /** For its sink: the client reads more slowly than the body comes. */
  isFull(sink: Writable): void {
    if (!this.#released) this.#unreadBytes().isFull(sink);
  }

  /** For its sink: a long body ends it. Returns false if there is no room for it. */
  sends(body: Uint8Array): boolean {
    if (this.#released || this.#unreadBytes().sends(body)) return true;
    this.cutOff();
    return false;
  }

  inform(_exchange: Exchange, status: number, headers: HeaderList, received: () => void): void {
    const { socket } = this.connection;
    // HTTP/1.0 has no informational responses (RFC 9110, section 15.2).
    if (this.headSent || socket.destroyed || this.#minor === 0) return received();
    socket.write(`${addHeaders(statusLine(status), headers)}\r\n`, 'latin1', received);
  }

  upgrade(exchange: Exchange, headers: HeaderList, stopping: () => void): Duplex | null {
    const { socket, settings } = this.connection;
    if (socket.destroyed || exchange.upgrade === null) return null;
    const switches = `${statusLine(101)}upgrade: ${exchange.upgrade.protocol}\r\nconnection: Upgrade\r\n`;
    const head = `${addHeaders(switches, headers)}\r\n`;
    this.headSent = true;
    this.#upgraded = true;
    socket.write(head, 'latin1');
    const rest = this.connection.leave();
    if (rest !== null) socket.unshift(rest);
    watchWrites(
      socket,
      () => this.isFull(socket),
      (body) => void this.sends(body),
    );
    settings.state.upgraded.add(socket, stopping);
    return socket;
  }

  whenStopping(listener: () => void): () => void {
    return this.connection.settings.state.upgraded.whenStopping(listener);
  }

  trailers(fields: HeaderList): void {
    if (this.exchange !== null && takesTrailers(this.exchange)) this.#trailers = addHeaders('', fields);
  }

  /** For its sink: what ends a body that comes in chunks. */
  lastChunk(): string {
    return `0\r\n${this.#trailers}\r\n`;
  }

  /** Writes the last bytes; the response has ended when they have left. */
  finishWith(text: string): void {
    const { socket, isSecure } = this.connection;
    if (socket.destroyed) return;
    // TLS takes nothing at once; a callback costs more than a look.
    if (isSecure && text !== '') return void socket.write(text, 'latin1', this.#finished);
    if (text !== '') socket.write(text, 'latin1');
    if (socket.writableLength === 0) this.#finished();
    else socket.write('', 'latin1', this.#finished);
  }

  readonly #finished = (): void => {
    if (this.#released) return;
    this.release();
    this.connection.responded(this.keepAlive);
  };

  /** The response, or its connection, has ended. */
  release(): void {
    if (this.#released) return;
    this.#released = true;
    this.heldHeaders?.release();
    this.#unread?.end();
    const { crashed } = this.connection.settings.state.events;
    const nothing = () => {};
    contained(() => this.exchange?.close(), nothing, crashed);
    contained(() => this.#sink?.connectionEnded(), nothing, crashed);
  }

  /** The client does not read. */
  cutOff(): void {
    if (!this.#upgraded) this.exchange?.close(CLIENT_CLOSED);
    this.abort();
  }

  abort(): void {
    this.connection.socket.destroy();
  }

  bodyWanted(): void {
    if (this.waitsForContinue && !this.headSent)
      this.connection.socket.write('HTTP/1.1 100 Continue\r\n\r\n', 'latin1');
  }

  bodyTooSlow(): void {
    const { exchange } = this;
    if (exchange === null || this.headSent) return this.abort();
    this.#end(exchange, tooSlow(exchange));
  }

  giveWay(exchange: Exchange): void {
    if (!this.headSent) return this.#end(exchange, gaveWay(exchange));
    exchange.close(CLIENT_CLOSED);
    this.abort();
  }

  /** The body's framing is broken: answers with 400, or ends the connection behind the answer that is under way. */
  bodyUnreadable(): void {
    const { exchange } = this;
    if (exchange === null) return this.abort();
    if (!this.headSent) return this.#end(exchange, unreadable(exchange));
    exchange.bodyStream?.destroy(new Error('the request body is not validly framed'));
  }

  #end(exchange: Exchange, refusal: Refusal): void {
    exchange.close(refusal.status);
    this.refuse(refusal);
  }

  /** An answer of the transport's own, behind which the connection ends; the client gets to read it. */
  refuse({ status, headers, body }: Refusal): void {
    this.keepAlive = false;
    this.finishWith(this.#head(status, headers) + (this.exchange?.method === 'HEAD' ? '' : latin1(Buffer.from(body))));
  }

  /** Returns status line and headers, and decides how the body is framed and whether the connection goes on. */
  #head(status: number, headers: HeaderList): string {
    const { settings, openedAt } = this.connection;
    const { exchange } = this;
    const body = exchange?.bodyStream;
    // An unread body would precede the next request, so the connection ends instead. It also ends behind a malformed
    // request: others may see another end of it.
    const isUnread = body && !body.isRead;
    if (settings.state.drain.ends(openedAt) || isUnread || exchange?.fault) this.keepAlive = false;
    let hasDate = false;
    let connectionAt = -1;
    let framing: Framing = this.#minor > 0 ? 'chunked' : 'closing';
    for (let i = 0; i < headers.length; i += 2) {
      switch (headers[i]) {
        case 'content-length':
          framing = 'length';
          this.#length = Number(headers[i + 1]);
          break;
        case 'date':
          hasDate = true;
          break;
        case 'connection':
          connectionAt = i + 1;
          break;
      }
    }
    if (status === 204 || status === 304 || exchange?.method === 'HEAD') framing = 'none';
    if (framing === 'closing') this.keepAlive = false;
    // `Connection: Upgrade` does not imply it.
    if (connectionAt >= 0 && !this.keepAlive) headers[connectionAt] += ', close';
    let text = addHeaders(statusLine(status), headers);
    this.#framing = framing;
    this.headSent = true;
    if (!hasDate) text += dateLine();
    if (connectionAt < 0) text += this.keepAlive ? settings.keepAliveLines : 'Connection: close\r\n';
    return framing === 'chunked' ? `${text}Transfer-Encoding: chunked\r\n\r\n` : `${text}\r\n`;
  }
}

/** The body of a response that streams. */
class ResponseBody extends Writable implements ResponseSink {
  readonly #response: Http1Response;
  /** Null once it has been written. */
  #head: string | null;
  readonly #framing: Framing;
  /** Bytes that Content-Length leaves. */
  #left: number;
  /** A whole body follows in this turn of the event loop. */
  #endsSoon = false;
  /** All of it has been handed to the connection. */
  #isWhole = false;

  constructor(response: Http1Response, head: string, framing: Framing, length: number) {
    super({ highWaterMark: SINK_BYTES, decodeStrings: true });
    this.#response = response;
    this.#head = head;
    this.#framing = framing;
    this.#left = length;
    // A body may be long in coming: its head is not kept for it.
    atEndOfTick(() => this.#sendHead());
  }

  #sendHead(): void {
    const { socket } = this.#response.connection;
    if (this.#head !== null && !this.#endsSoon && !socket.destroyed) socket.write(this.#takeHead(), 'latin1');
  }

  #takeHead(): string {
    const head = this.#head ?? '';
    this.#head = null;
    return head;
  }

  override write(...args: unknown[]): boolean {
    const goesOn: boolean = Reflect.apply(super.write, this, args);
    if (!goesOn && !this.destroyed) this.#response.isFull(this);
    return goesOn;
  }

  override end(...args: unknown[]): this {
    const long = longBody(args[0]);
    if (long === null) return Reflect.apply(super.end, this, args);
    if (!this.#response.sends(long)) return this;
    return Reflect.apply(super.end, this, [long]);
  }

  /** Ends with a whole body: a short one goes out in one piece with the head. Call it before any write. */
  endWith(bytes: Uint8Array): void {
    const isShort = bytes.length <= ONE_PIECE;
    if (!isShort && !this.#response.sends(bytes)) return;
    this.#endsSoon = true;
    // Later code in this turn may reuse the memory behind `bytes`: a short body is copied now.
    const text = isShort ? latin1(bytes) : '';
    atEndOfTick(() => {
      if (this.destroyed) return;
      if (!isShort) endInPieces(this, bytes);
      else if (this.#head === null || this.#framing !== 'length' || this.#left !== bytes.length)
        super.end(text, 'latin1');
      else {
        this.#isWhole = true;
        this.#response.finishWith(this.#takeHead() + text);
      }
    });
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    const { socket } = this.#response.connection;
    if (socket.destroyed || chunk.length === 0) return done();
    if (this.#framing === 'none') return done();
    if (this.#framing === 'length') {
      this.#left -= chunk.length;
      // More than was announced would be read as the next response.
      if (this.#left < 0) return done(this.#defect('the body is longer than its Content-Length'));
    }
    const isChunk = this.#framing === 'chunked';
    const before = isChunk ? `${this.#takeHead()}${chunk.length.toString(16)}\r\n` : this.#takeHead();
    let goesOn: boolean;
    if (chunk.length <= ONE_PIECE) goesOn = socket.write(before + latin1(chunk) + (isChunk ? '\r\n' : ''), 'latin1');
    else {
      socket.cork();
      if (before !== '') socket.write(before, 'latin1');
      goesOn = socket.write(chunk);
      if (isChunk) goesOn = socket.write('\r\n', 'latin1');
      socket.uncork();
    }
    if (goesOn) done();
    else socket.once('drain', done);
  }

  override _final(done: (error?: Error | null) => void): void {
    if (this.#framing === 'length' && this.#left > 0) {
      return done(this.#defect('the body is shorter than its Content-Length'));
    }
    this.#isWhole = true;
    const last = this.#framing === 'chunked' ? this.#response.lastChunk() : '';
    this.#response.finishWith(this.#takeHead() + last);
    done();
  }

  #defect(text: string): Error {
    const error = new Error(text);
    this.#response.connection.settings.state.events.crashed(error);
    return error;
  }

  /** The response, or its connection, has ended. */
  connectionEnded(): void {
    if (!this.#isWhole) this.destroy();
  }

  /** Errors concern the connection, which ends with them. */
  override _destroy(_error: Error | null, done: (error?: Error | null) => void): void {
    if (!this.#isWhole) this.#response.abort();
    done(null);
  }
}

const statusLines: string[] = [];

function statusLine(status: number): string {
  statusLines[status] ??= `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'unknown'}\r\n`;
  return statusLines[status];
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}
