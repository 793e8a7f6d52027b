/**
 * Gives node:http's parser what a connection reads in slices. The parser takes all that one read brings: 64 KiB of short
 * pipelined requests become 2,000 requests in memory, and the bytes of ten such connections are one turn of the event loop.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** Bytes in which requests may begin: about 30 of the shortest. */
const HEADS = 1024;
/** Milliseconds of a connection in one turn of the event loop: chunks of one byte cost a hundred times their length. */
const TURN_MS = 2;

const NOTHING = Buffer.alloc(0);

type Parse = (chunk: Buffer) => void;

export class SlicedReader {
  readonly #socket: Socket;
  /** Requests that wait behind another one: no more is parsed meanwhile. */
  waiting = 0;
  readonly #parse: Parse;
  /** Bytes that belong to a body whose length is known. */
  #bodyLeft = 0;
  #slice = 0;
  /** What follows the slice that is parsed. */
  #rest: Buffer | null = null;

  /** `socket`: one that node:http has just begun to read. */
  constructor(socket: Socket) {
    const [parse] = socket.listeners('data');
    if (parse === undefined) throw new Error('node:http no longer listens for "data"');
    this.#socket = socket;
    this.#parse = parse as Parse;
    socket.on('data', this.#read);
    socket.off('data', this.#parse);
  }

  /** A request has come, in the slice that is parsed now. `bodyLength`: undefined if it is not known. */
  begins(bodyLength: string | undefined): void {
    this.#bodyLeft = Math.max(0, Number(bodyLength ?? 0) - this.#slice);
  }

  /** The connection speaks another protocol from here on. Returns `head`, and all else that has been read. */
  leave(head: Buffer): Buffer {
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
      this.#slice = Math.max(HEADS, this.#bodyLeft);
      this.#bodyLeft = Math.max(0, this.#bodyLeft - this.#slice);
      this.#rest = chunk.subarray(at + this.#slice);
      this.#parse(chunk.subarray(at, at + this.#slice));
      if (this.#rest === null || socket.destroyed) return;
      // Whoever has paused it reads on.
      if (socket.isPaused()) return this.#hold(this.#rest);
    }
    this.#rest = null;
  };

  #hold(rest: Buffer): void {
    this.#rest = null;
    this.#socket.pause();
    if (rest.length > 0) this.#socket.unshift(rest);
  }

  readonly #goOn = (): void => {
    if (!this.#socket.destroyed && this.waiting === 0) this.#socket.resume();
  };
}

/** Has a server of node:http or node:https read the requests of each connection so; pipelined ones wait for one another. */
export function readInTurns(server: Server, isSecure: boolean): void {
  const readers = new WeakMap<Duplex, SlicedReader>();
  const open = new WeakMap<Duplex, number>();
  server.on(isSecure ? 'secureConnection' : 'connection', (socket: Socket) => {
    readers.set(socket, new SlicedReader(socket));
  });
  server.prependListener('request', ({ socket, headers }: IncomingMessage, response: ServerResponse) => {
    const reader = readers.get(socket);
    if (reader === undefined) return;
    const count = (by: 1 | -1) => {
      const now = (open.get(socket) ?? 0) + by;
      open.set(socket, now);
      reader.waiting = Math.max(0, now - 1);
      if (by < 0 && reader.waiting === 0) socket.resume();
    };
    reader.begins(headers['content-length']);
    count(1);
    response.once('close', () => count(-1));
  });
  server.prependListener('upgrade', (_request: IncomingMessage, socket: Duplex) => {
    const rest = readers.get(socket)?.leave(NOTHING) ?? NOTHING;
    if (rest.length > 0) socket.unshift(rest);
  });
}
