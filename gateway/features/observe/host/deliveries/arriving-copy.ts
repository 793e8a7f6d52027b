/**
 * A body that is copied as it arrives: it takes room as it grows, and is dropped if it is too long, or room runs out.
 */

import type { BodyCopy } from '../../../kit.ts';
import type { Room } from './room.ts';

/** Bytes of the first piece of memory; each next one doubles it. */
const FIRST = 4 << 10;

export interface CopyEnd {
  /** The body is whole. */
  copied(body: Uint8Array): void;
  tooLong(): void;
  noRoom(): void;
}

export class ArrivingCopy implements BodyCopy {
  readonly #room: Room;
  readonly #most: number;
  /** Null: it has ended. */
  #end: CopyEnd | null;
  #memory = Buffer.alloc(0);
  #length = 0;

  /** `most`: bytes of the longest body that is copied. */
  constructor(room: Room, most: number, end: CopyEnd) {
    this.#room = room;
    this.#most = most;
    this.#end = end;
  }

  /** Drops the rest of it. Returns false if it was whole, or given up before. */
  giveUp(): boolean {
    const isOpen = this.#end !== null;
    this.#end = null;
    this.#memory = Buffer.alloc(0);
    return isOpen;
  }

  chunk(bytes: Uint8Array): void {
    const end = this.#end;
    if (end === null) return;
    const length = this.#length + bytes.length;
    const fits = length <= this.#most;
    if (fits && this.#grow(length)) {
      // Copied, because the chunk's buffer may be much larger than the chunk.
      this.#memory.set(bytes, this.#length);
      this.#length = length;
      return;
    }
    this.giveUp();
    if (fits) end.noRoom();
    else end.tooLong();
  }

  whole(): void {
    const end = this.#end;
    const body = this.#memory.subarray(0, this.#length);
    if (this.giveUp()) end?.copied(body);
  }

  #grow(length: number): boolean {
    const before = this.#memory.length;
    if (length <= before) return true;
    const capacity = Math.min(Math.max(length, before * 2, FIRST), this.#most);
    if (!this.#room.take(capacity - before)) return false;
    const memory = Buffer.allocUnsafeSlow(capacity);
    memory.set(this.#memory);
    this.#memory = memory;
    return true;
  }
}
