/** Encoded events that are written together, to one client or to many, and their memory while some have yet to read them. */
import type { Holding } from '../../../kit.ts';

/** A client that has yet to read frames. */
export interface FramesReader {
  /** Begins an empty holding for the client; null if nothing limits its memory. */
  hold(): Holding | null;
  /** Cuts the client off: there is no room for its frames. */
  cut(): void;
}

/** Estimated bytes that frames take beside their own. */
const OVERHEAD = 200;

export class Frames {
  readonly bytes: Buffer;
  /** Number of messages among the events. */
  readonly messages: number;
  readonly #readers = new Set<FramesReader>();
  /** The reader that they count for: they are in memory once, so they count once. */
  #counted: { readonly reader: FramesReader; readonly held: Holding | null } | null = null;

  constructor(bytes: Buffer, messages: number) {
    this.bytes = bytes;
    this.messages = messages;
  }

  /** They stay in memory for one more client. Returns false if there is no room for them. */
  waitFor(reader: FramesReader): boolean {
    this.#readers.add(reader);
    return this.#counted !== null || this.#countFor(reader);
  }

  /** The client has them, or no longer wants them: they count for another one that waits. */
  leave(reader: FramesReader): void {
    if (!this.#readers.delete(reader) || reader !== this.#counted?.reader) return;
    this.#counted.held?.release();
    this.#counted = null;
    for (const next of this.#readers) {
      if (!this.#countFor(next)) next.cut();
      if (this.#counted !== null) return;
    }
  }

  #countFor(reader: FramesReader): boolean {
    const held = reader.hold();
    const hasRoom = held === null || held.take(this.bytes.length + OVERHEAD);
    // Clients that gave way may include this one.
    if (hasRoom && this.#readers.has(reader)) this.#counted = { reader, held };
    else held?.release();
    return hasRoom;
  }
}
