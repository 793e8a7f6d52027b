/**
 * A plugin's memory for host functions. Every access is checked, and places that are written to are noted, so that they
 * are restored after the call; references are not kept.
 */
import { WRITTEN_BITS } from '../binary/written.ts';
import { type ConstantTexts, NO_TEXTS } from './constant-texts.ts';
import { HostCallError } from './host-call-error.ts';

/** Up to here a loop beats a call into the runtime's encoders. */
const SHORT = 48;
/** Bytes of one text: decoding more would hold up the event loop. */
const MOST_TEXT = 1 << 20;
/** Bytes of a JSON pointer: each of its tokens is a step. */
const MOST_POINTER = 4096;

export class GuestMemory {
  readonly #memory: WebAssembly.Memory;
  readonly #charge: (length: number) => void;
  readonly #blockBits: number;
  #bytes: Buffer;
  /** Table of the blocks that were written to; null: they have bits (`binary/written.ts`). */
  readonly table: Buffer | null;
  /** Bits of blocks 0 to 31, and 32 to 63, that the host has written to. */
  writtenLow = 0;
  writtenHigh = 0;
  /** Texts of the state that the call began with. */
  constants: ConstantTexts = NO_TEXTS;

  /**
   * `charge` is called with the number of bytes that are read as text. `blockBits`: binary logarithm of the size of the
   * blocks that are noted.
   */
  constructor(
    memory: WebAssembly.Memory,
    charge: (length: number) => void,
    blockBits: number,
    table: Buffer | null = null,
  ) {
    this.#blockBits = blockBits;
    this.table = table;
    this.#memory = memory;
    this.#charge = charge;
    this.#bytes = Buffer.from(memory.buffer);
  }

  /** The whole memory, to be read: writing to it would not be noted. Growing detaches the buffer, which shows as a length of 0. */
  get bytes(): Buffer {
    if (this.#bytes.length === 0) this.#bytes = Buffer.from(this.#memory.buffer);
    return this.#bytes;
  }

  grow(pages: number): void {
    this.#memory.grow(pages);
  }

  forgetWritten(): void {
    this.writtenLow = 0;
    this.writtenHigh = 0;
    this.table?.fill(0);
  }

  #note(start: number, length: number): void {
    if (length === 0) return;
    const first = start >>> this.#blockBits;
    const end = (start + length - 1) >>> this.#blockBits;
    if (this.table !== null) {
      this.table.fill(1, first, end + 1);
      return;
    }
    const last = Math.min(end, first + WRITTEN_BITS - 1);
    for (let block = first; block <= last; block++) {
      if ((block & 32) === 0) this.writtenLow |= 1 << (block & 31);
      else this.writtenHigh |= 1 << (block & 31);
    }
  }

  /** Returns the first byte's index; throws if the range is not all inside. */
  #start(pointer: number, length: number): number {
    const start = pointer >>> 0;
    if (start + (length >>> 0) > this.bytes.length) {
      throw new HostCallError(`a pointer outside memory: ${start} and ${length >>> 0} bytes`);
    }
    return start;
  }

  /** Throws if the range is not all inside memory. */
  check(pointer: number, length: number): void {
    this.#start(pointer, length);
  }

  #startOfText(pointer: number, length: number): number {
    const start = this.#start(pointer, length);
    if (length >>> 0 > MOST_TEXT) throw new HostCallError(`a text of ${length >>> 0} bytes, of at most ${MOST_TEXT}`);
    this.#charge(length);
    return start;
  }

  /** UTF-8 text. */
  text(pointer: number, length: number): string {
    const start = this.#startOfText(pointer, length);
    const { bytes } = this;
    return this.constants.at(bytes, start, length >>> 0) ?? bytes.utf8Slice(start, start + (length >>> 0));
  }

  /** A JSON pointer (RFC 6901). */
  jsonPointer(pointer: number, length: number): string {
    if (length >>> 0 > MOST_POINTER) {
      throw new HostCallError(`a JSON pointer of ${length >>> 0} bytes, of at most ${MOST_POINTER}`);
    }
    return this.text(pointer, length);
  }

  /** One character a byte, as HTTP's own elements are. */
  latin1(pointer: number, length: number): string {
    const start = this.#startOfText(pointer, length);
    const { bytes } = this;
    return this.constants.at(bytes, start, length >>> 0) ?? bytes.latin1Slice(start, start + (length >>> 0));
  }

  /** Reports whether the bytes spell `name`, which is in lower case, in any case. Makes no string. */
  spells(name: string, pointer: number, length: number): boolean {
    if (name.length !== length) return false;
    const start = this.#start(pointer, length);
    const bytes = this.bytes;
    for (let i = 0; i < length; i++) {
      let byte = bytes[start + i] ?? 0;
      if (byte >= 0x41 && byte <= 0x5a) byte |= 0x20;
      if (byte !== name.charCodeAt(i)) return false;
    }
    return true;
  }

  /** Reports whether the bytes spell `text` exactly, which must be ASCII. */
  equals(text: string, pointer: number, length: number): boolean {
    if (text.length !== length) return false;
    const start = this.#start(pointer, length);
    const bytes = this.bytes;
    for (let i = 0; i < length; i++) if (bytes[start + i] !== text.charCodeAt(i)) return false;
    return true;
  }

  /** A copy. */
  copy(pointer: number, length: number): Buffer {
    const start = this.#start(pointer, length);
    return Buffer.from(this.bytes.subarray(start, start + (length >>> 0)));
  }

  /** Writes the text if it fits; returns its length in UTF-8 either way, and -1 for undefined. */
  writeText(text: string | undefined, pointer: number, capacity: number): number {
    const start = this.#start(pointer, capacity);
    if (text === undefined) return -1;
    const bytes = this.bytes;
    const length = text.length;
    if (length <= SHORT && length <= capacity >>> 0) {
      this.#note(start, length);
      let i = 0;
      for (; i < length; i++) {
        const code = text.charCodeAt(i);
        if (code >= 0x80) break;
        bytes[start + i] = code;
      }
      if (i === length) return length;
    }
    const encoded = Buffer.byteLength(text);
    if (encoded <= capacity >>> 0) {
      this.#note(start, encoded);
      bytes.write(text, start, encoded, encoded === length ? 'latin1' : 'utf8');
    }
    return encoded;
  }

  /** Writes as much as fits of `source` from `offset` on; returns the number of bytes. */
  writeFrom(source: Uint8Array, offset: number, pointer: number, capacity: number): number {
    const start = this.#start(pointer, capacity);
    const from = Math.min(offset >>> 0, source.length);
    const count = Math.min(source.length - from, capacity >>> 0);
    this.#note(start, count);
    this.bytes.set(source.subarray(from, from + count), start);
    return count;
  }

  /** Writes all of it if it fits; returns its length either way, and -1 for undefined. */
  writeWhole(source: Uint8Array | undefined, pointer: number, capacity: number): number {
    const start = this.#start(pointer, capacity);
    if (source === undefined) return -1;
    if (source.length <= capacity >>> 0) {
      this.#note(start, source.length);
      this.bytes.set(source, start);
    }
    return source.length;
  }

  /** Doubles in a row, little-endian. */
  writeDoubles(values: readonly number[], pointer: number): void {
    let at = this.#start(pointer, values.length * 8);
    this.#note(at, values.length * 8);
    for (const value of values) at = this.bytes.writeDoubleLE(value, at);
  }
}
