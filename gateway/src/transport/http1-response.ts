/** Writes the pipeline's answer to one HTTP/1.1 request. */
import { type IncomingMessage, ServerResponse, STATUS_CODES, validateHeaderName, validateHeaderValue } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex, Writable } from 'node:stream';
import { CLIENT_CLOSED, type Exchange, type HeaderList, type Responder, type ResponseSink } from '../exchange.ts';
import type { Holding } from '../memory/buffer-budget.ts';
import { atEndOfTick } from '../scheduling/end-of-tick.ts';
import type { BodyOwner } from './body.ts';
import { contained } from './contained.ts';
import type { Drain } from './drain.ts';
import { endInPieces } from './pieces.ts';
import type { SlicedReader } from './read-in-slices.ts';
import { gaveWay, LINGER_MS, noResponseRoom, type Refusal, tooSlow, unreadable } from './refuse.ts';
import { takesTrailers } from './takes-trailers.ts';
import {
  longBody,
  ONE_PIECE,
  type SlowlyRead,
  type UnreadResponse,
  type UnreadResponses,
  watchWrites,
} from './unread-responses.ts';
import type { UpgradedConnections } from './upgraded.ts';

/** State of a connection. It drops all of a request when its response has closed. */
export interface Http1Connection {
  /** When it had its first request, in monotonic milliseconds. */
  readonly openedAt: number;
  /** Response to the newest request; null if it has closed. */
  last: Http1Response | null;
  readonly reader: SlicedReader;
  /** A listener of the end of a request failed. */
  crashed(error: unknown): void;
}

export class Http1Response extends ServerResponse implements Responder, BodyOwner, SlowlyRead {
  exchange: Exchange | null = null;
  drain: Drain | null = null;
  http1: Http1Connection | null = null;
  /** The headers of its request, while it is open. */
  heldHeaders: Holding | null = null;
  waitsForContinue = false;
  /** Bytes behind a request that asks for another protocol; null if the connection stays HTTP. */
  afterRequest: Buffer | null = null;
  upgradedConnections: UpgradedConnections | null = null;
  unreadResponses: UnreadResponses | null = null;
  #upgraded: Duplex | null = null;
  /** Null as long as nothing of it has to wait for the client. */
  #unread: UnreadResponse | null = null;

  send(exchange: Exchange, status: number, headers: HeaderList, body: Uint8Array | string | null): void {
    const framed = status !== 204 && status !== 304;
    const payload = framed && status !== 205 ? body : null;
    const sent = typeof payload === 'string' ? Buffer.from(payload) : payload;
    if (framed) headers.push('content-length', String(sent?.length ?? 0));
    const isLong = sent !== null && sent.length > ONE_PIECE && exchange.method !== 'HEAD';
    if (isLong && this.#unreadBytes()?.sends(sent) === false) return this.#refuse(exchange, noResponseRoom(exchange));
    this.#head(status, headers);
    if (sent === null) atEndOfTick(() => void this.end());
    else this.endWith(sent);
  }

  /** Null once the response has ended. */
  #unreadBytes(): UnreadResponse | null {
    this.#unread ??= this.unreadResponses?.of(this) ?? null;
    return this.#unread;
  }

  override write(...args: unknown[]): boolean {
    const goesOn: boolean = Reflect.apply(super.write, this, args);
    if (!goesOn && !this.destroyed) this.#isFull(this);
    return goesOn;
  }

  override end(...args: unknown[]): this {
    const long = longBody(args[0]);
    if (long === null) return Reflect.apply(super.end, this, args);
    this.#ends(long);
    return Reflect.apply(super.end, this, [long]);
  }

  #isFull(sink: Writable): void {
    this.#unreadBytes()?.isFull(sink);
  }

  #ends(body: Uint8Array): void {
    if (this.#unreadBytes()?.sends(body) === false) this.cutOff();
  }

  stream(_exchange: Exchange, status: number, headers: HeaderList): ResponseSink {
    this.#head(status, headers);
    return this;
  }

  /** Ends with a whole body: a short one goes out in one piece with the head. Call it before any write. */
  endWith(bytes: Uint8Array): void {
    const short = bytes.length <= ONE_PIECE;
    if (!short) this.#ends(bytes);
    // Later code in this turn may reuse the memory behind `bytes`: a short body is copied now.
    const text = short ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1') : null;
    atEndOfTick(() => {
      if (text !== null) this.end(text, 'latin1');
      else endInPieces(this, bytes);
    });
  }

  inform(_exchange: Exchange, status: number, headers: HeaderList, received: () => void): void {
    // HTTP/1.0 has no informational responses (RFC 9110, section 15.2).
    if (this.headersSent || this.socket === null || this.req.httpVersionMinor === 0) return received();
    this.writeInformation(status, headers);
    this.socket.write('', received);
  }

  upgrade(exchange: Exchange, headers: HeaderList, stopping: () => void): Duplex | null {
    const { socket, afterRequest } = this;
    if (socket === null || socket.destroyed || afterRequest === null) return null;
    socket.write(headOfUpgrade(exchange, headers), 'latin1');
    this.emit('upgraded');
    this.detachSocket(socket);
    if (afterRequest.length > 0) socket.unshift(afterRequest);
    socket.once('close', () => {
      exchange.close();
      this.#unread?.end();
    });
    watchWrites(
      socket,
      () => this.#isFull(socket),
      (body) => this.#ends(body),
    );
    this.#upgraded = socket;
    this.upgradedConnections?.add(socket, stopping);
    return socket;
  }

  whenStopping(listener: () => void): () => void {
    return this.upgradedConnections?.whenStopping(listener) ?? (() => {});
  }

  trailers(fields: HeaderList): void {
    if (this.exchange === null || !takesTrailers(this.exchange)) return;
    const pairs: [string, string][] = [];
    for (let i = 0; i < fields.length; i += 2) pairs.push([fields[i] as string, fields[i + 1] as string]);
    this.addTrailers(pairs);
  }

  /**
   * Its listener for `close`: a closure would keep everything in its scope, such as the previous response, and that the
   * one before.
   */
  release(this: Http1Response): void {
    const { http1, exchange, heldHeaders } = this;
    if (http1?.last === this) http1.last = null;
    heldHeaders?.release();
    this.unreadResponses = null;
    this.#unread?.end();
    this.#unread = null;
    const nothing = () => {};
    contained(() => exchange?.close(), nothing, http1?.crashed ?? nothing);
  }

  get headSent(): boolean {
    return this.headersSent || this.#upgraded !== null;
  }

  /** The client does not read. */
  cutOff(): void {
    if (this.#upgraded !== null) return void this.#upgraded.destroy();
    this.exchange?.close(CLIENT_CLOSED);
    this.abort();
  }

  abort(): void {
    (this.#upgraded ?? this.socket)?.destroy();
  }

  bodyWanted(): void {
    if (this.waitsForContinue) this.writeContinue();
  }

  bodyTooSlow(): void {
    const { exchange } = this;
    if (exchange === null || this.headersSent) return this.abort();
    this.#refuse(exchange, tooSlow(exchange));
  }

  giveWay(exchange: Exchange): void {
    if (!this.headersSent) return this.#refuse(exchange, gaveWay(exchange));
    exchange.close(CLIENT_CLOSED);
    this.abort();
  }

  /** The body's framing is broken: answers with 400, or ends the connection behind the answer that is under way. */
  bodyUnreadable(): void {
    const { exchange } = this;
    if (exchange === null) return this.abort();
    if (!this.headersSent) return this.#refuse(exchange, unreadable(exchange));
    this.once('finish', () => this.socket?.destroySoon());
    exchange.bodyStream?.destroy(new Error('the request body is not validly framed'));
  }

  #refuse(exchange: Exchange, { status, headers, body }: Refusal): void {
    exchange.close(status);
    this.shouldKeepAlive = false;
    this.writeHead(status, headers);
    this.end(body);
  }

  /** An answer of the transport's own, behind which the connection ends; the client gets to read it. */
  refuse({ status, headers, body }: Refusal): void {
    this.shouldKeepAlive = false;
    this.#head(status, headers);
    this.end(body);
  }

  #head(status: number, headers: HeaderList): void {
    const { exchange } = this;
    const body = exchange?.bodyStream;
    // An unread body would precede the next request, so the connection ends instead. It also ends behind a malformed
    // request: others may see another end of it.
    const unread = body && !body.readableEnded;
    if (this.drain?.ends(this.http1?.openedAt ?? 0) || unread || exchange?.fault) this.shouldKeepAlive = false;
    if (unread && this.socket) closeInStages(this.socket, this.req);
    if (!this.shouldKeepAlive) addClose(headers);
    this.writeHead(status, headers);
  }
}

/** Adds `close`, which `Connection: Upgrade` does not imply. */
function addClose(headers: HeaderList): void {
  for (let i = 0; i < headers.length; i += 2) if (headers[i] === 'connection') headers[i + 1] += ', close';
}

function headOfUpgrade({ upgrade }: Exchange, headers: HeaderList): string {
  let head = `HTTP/1.1 101 ${STATUS_CODES[101]}\r\nupgrade: ${upgrade?.protocol}\r\nconnection: Upgrade\r\n`;
  for (let i = 0; i < headers.length; i += 2) {
    const [name, value] = [headers[i] as string, headers[i + 1] as string];
    validateHeaderName(name);
    validateHeaderValue(name, value);
    head += `${name}: ${value}\r\n`;
  }
  return `${head}\r\n`;
}

/**
 * Lets a client that still sends its body read the answer: closing at once would reset the connection, and discard the
 * unread part (RFC 9112, section 9.6).
 */
function closeInStages(socket: Socket, request: IncomingMessage): void {
  // node:http calls this behind the last response of a connection.
  socket.destroySoon = () => {
    request.removeAllListeners('data').resume();
    socket.end();
    const cut = setTimeout(() => socket.destroy(), LINGER_MS).unref();
    socket.once('close', () => clearTimeout(cut));
  };
}
