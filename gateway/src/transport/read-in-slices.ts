/**
 * Passes a connection's data to node:http's parser in slices. The parser processes a whole read at once: 64 KiB of
 * short pipelined requests become 2,000 requests in memory, and the bytes of ten such connections are one turn of the
 * event loop.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** Bytes in which requests may begin: about 30 of the shortest. */
const HEADS = 1024;
/** Bytes if at most one request begins in them: some thousand chunks of one byte. */
const ONE_HEAD = 8 << 10;
/** Ends a head. */
const HEAD_END = '\r\n\r\n';
/** Milliseconds of a connection in one turn of the event loop: chunks of one byte cost a hundred times their length. */
const TURN_MS = 2;

const NOTHING = Buffer.alloc(0);
const CR = 13;
const LF = 10;

/**
 * Bytes of empty lines that a client may send behind a request (RFC 9112, section 2.2). Each read restarts the idle time
 * of a connection, so that a client could keep one open with them.
 */
const MOST_EMPTY_BYTES = 8;

type Parse = (chunk: Buffer) => void;

export class SlicedReader {
  readonly #socket: Socket;
  /** Requests that wait behind another one: no more is parsed meanwhile. */
  waiting = 0;
  readonly #parse: Parse;
  /** Bytes of a body of known length. */
  #bodyLeft = 0;
  #slice = 0;
  /** The bytes after the slice that is parsed. */
  #rest: Buffer | null = null;
  readonly #isIdle: () => boolean;
  /** The newest request. */
  #request: IncomingMessage | null = null;
  #hasBegun = false;
  /** Bytes since the newest request, and those that came in empty lines while nothing else did. */
  #headBytes = 0;
  #emptyBytes = 0;

  /**
   * `socket`: one that node:http has just begun to read. `isIdle`: reports whether no response is under way on it.
   */
  constructor(socket: Socket, isIdle: () => boolean) {
    this.#isIdle = isIdle;
    const [parse] = socket.listeners('data');
    if (parse === undefined) throw new Error('node:http no longer listens for "data"');
    this.#socket = socket;
    this.#parse = parse as Parse;
    socket.on('data', this.#read);
    socket.off('data', this.#parse);
  }

  /** A request has come, in the slice that is parsed now. */
  begins(request: IncomingMessage): void {
    this.#request = request;
    this.#hasBegun = true;
    this.#headBytes = 0;
    this.#emptyBytes = 0;
    this.#bodyLeft = Math.max(0, Number(request.headers['content-length'] ?? 0) - this.#slice);
  }

  /** The connection speaks another protocol from here on. Returns `head`, and all else that has been read. */
  detach(head: Buffer): Buffer {
    this.#socket.off('data', this.#read);
    const rest = this.#rest;
    this.#rest = null;
    return rest === null || rest.length === 0 ? head : Buffer.concat([head, rest]);
  }

  readonly #read = (chunk: Buffer): void => {
    const socket = this.#socket;
    const began = chunk.length > HEADS ? performance.now() : 0;
    for (let at = 0; at < chunk.length; at += this.#slice) {
      if (this.waiting > 0) return this.#hold(chunk.subarray(at));
      if (at > 0 && performance.now() - began > TURN_MS) {
        this.#hold(chunk.subarray(at));
        setImmediate(this.#goOn);
        return;
      }
      this.#slice = Math.max(this.#bodyLeft, sliceAt(chunk, at));
      this.#bodyLeft = Math.max(0, this.#bodyLeft - this.#slice);
      const isAll = at === 0 && this.#slice >= chunk.length;
      this.#rest = isAll ? NOTHING : chunk.subarray(at + this.#slice);
      this.#hasBegun = false;
      const isBetween = this.#request?.complete !== false;
      const slice = isAll ? chunk : chunk.subarray(at, at + this.#slice);
      this.#parse(slice);
      if (this.#rest === null || socket.destroyed) return;
      if (isBetween && !this.#hasBegun && !this.#takesBetween(slice)) return void socket.destroy();
      // The code that has paused it resumes it.
      if (socket.isPaused()) return this.#hold(this.#rest);
    }
    this.#rest = null;
  };

  /** Counts empty lines between requests. Returns false if there are too many. */
  #takesBetween(slice: Buffer): boolean {
    const headBefore = this.#headBytes;
    this.#headBytes += slice.length;
    if (this.#emptyBytes === headBefore && slice.every((byte) => byte === CR || byte === LF)) {
      this.#emptyBytes += slice.length;
      return this.#emptyBytes <= MOST_EMPTY_BYTES || !this.#isIdle();
    }
    return true;
  }

  #hold(rest: Buffer): void {
    this.#rest = null;
    this.#socket.pause();
    if (rest.length > 0) this.#socket.unshift(rest);
  }

  readonly #goOn = (): void => {
    if (!this.#socket.destroyed && this.waiting === 0) this.#socket.resume();
  };
}

/** Bytes from `at` on in which few requests begin. */
function sliceAt(chunk: Buffer, at: number): number {
  if (chunk.length - at <= HEADS) return HEADS;
  const window = chunk.subarray(at, at + ONE_HEAD);
  const first = window.indexOf(HEAD_END, 0, 'latin1');
  const second = first < 0 ? -1 : window.indexOf(HEAD_END, first + HEAD_END.length, 'latin1');
  return second < 0 ? ONE_HEAD : HEADS;
}

/** Has a server of node:http or node:https read the requests of each connection so; pipelined ones wait for one another. */
export function parseInTurns(server: Server, isSecure: boolean): void {
  const readers = new WeakMap<Duplex, SlicedReader>();
  const open = new WeakMap<Duplex, number>();
  server.on(isSecure ? 'secureConnection' : 'connection', (socket: Socket) => {
    readers.set(socket, new SlicedReader(socket, () => (open.get(socket) ?? 0) === 0));
  });
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    const reader = readers.get(socket);
    if (reader === undefined) return;
    const count = (by: 1 | -1) => {
      const now = (open.get(socket) ?? 0) + by;
      open.set(socket, now);
      reader.waiting = Math.max(0, now - 1);
      if (by < 0 && reader.waiting === 0) socket.resume();
    };
    reader.begins(request);
    count(1);
    response.once('close', () => count(-1));
  });
  server.prependListener('upgrade', (_request: IncomingMessage, socket: Duplex) => {
    const rest = readers.get(socket)?.detach(NOTHING) ?? NOTHING;
    if (rest.length > 0) socket.unshift(rest);
  });
}
