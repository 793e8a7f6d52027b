/** The body of an HTTP/1.1 request, between its connection and its reader. */
import type { Socket } from 'node:net';
import { ByteCollector } from '../streams/byte-collector.ts';
import type { BodySource, IncomingBody } from './body.ts';

/** Bytes of a body that are read before somebody wants it: the client's leaving shows only while its bytes are read. */
const EARLY_BYTES = 64 << 10;
export class RequestBody implements BodySource {
  readonly #goOn: () => void;
  readonly #socket: Socket;
  #into: IncomingBody | null = null;
  readonly #early = new ByteCollector();
  #isWhole = false;
  #isPaused = false;

  constructor(goOn: () => void, socket: Socket) {
    this.#goOn = goOn;
    this.#socket = socket;
  }

  /** No more of it may be read at present. */
  get isHeld(): boolean {
    return this.#isPaused || this.#early.length >= EARLY_BYTES;
  }

  get isPaused(): boolean {
    return this.#isPaused || this.#isWhole;
  }

  begin(body: IncomingBody): void {
    this.#into = body;
    for (const piece of this.#early.take()) body.arrived(piece);
    if (this.#isWhole) body.ended();
    else if (!this.#isPaused) this.#goOn();
  }

  takeWhole(most: number): Uint8Array | null {
    return this.#isWhole && this.#into === null && this.#early.length <= most ? this.#early.takeWhole() : null;
  }

  pause(): void {
    this.#isPaused = true;
    if (!this.#isWhole) this.#socket.pause();
  }

  resume(): void {
    this.#isPaused = false;
    if (!this.#isWhole) this.#goOn();
  }

  arrived(chunk: Buffer): void {
    if (this.#into !== null) return this.#into.arrived(chunk);
    this.#early.add(chunk);
  }

  ended(): void {
    this.#isWhole = true;
    this.#into?.ended();
  }

  brokeOff(): void {
    this.#into?.brokeOff();
  }
}
