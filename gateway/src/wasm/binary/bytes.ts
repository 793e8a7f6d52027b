/** Reading and writing the WebAssembly binary format's primitives (core specification, chapter 5). */
import { PluginLoadError } from './plugin-load-error.ts';

/** A cursor over a module's bytes. Every read past the end throws PluginLoadError. */
export class ByteReader {
  readonly bytes: Uint8Array;
  readonly end: number;
  at: number;

  constructor(bytes: Uint8Array, at = 0, end = bytes.length) {
    if (end > bytes.length || at > end) throw truncated();
    this.bytes = bytes;
    this.at = at;
    this.end = end;
  }

  get done(): boolean {
    return this.at >= this.end;
  }

  u8(): number {
    const byte = this.at < this.end ? this.bytes[this.at++] : undefined;
    if (byte === undefined) throw truncated();
    return byte;
  }

  /** The next byte without taking it. */
  peek(): number {
    const byte = this.at < this.end ? this.bytes[this.at] : undefined;
    if (byte === undefined) throw truncated();
    return byte;
  }

  skip(count: number): void {
    if (count > this.end - this.at) throw truncated();
    this.at += count;
  }

  /** An unsigned LEB128 of at most 32 bits. */
  u32(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.u8();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) {
        if (value > 0xffffffff) break;
        return value;
      }
    }
    throw new PluginLoadError('the file is not a valid WebAssembly module: it holds a malformed number');
  }

  /** Passes over a LEB128 of at most 64 bits, signed or not. */
  skipLeb(): void {
    for (let i = 0; i < 10; i++) if (this.u8() < 0x80) return;
    throw new PluginLoadError('the file is not a valid WebAssembly module: it holds a malformed number');
  }

  name(): string {
    const length = this.u32();
    const start = this.at;
    this.skip(length);
    return new TextDecoder().decode(this.bytes.subarray(start, this.at));
  }

  /** A cursor over the next `length` bytes, which this one passes over. */
  slice(length: number): ByteReader {
    const start = this.at;
    this.skip(length);
    return new ByteReader(this.bytes, start, this.at);
  }
}

function truncated(): PluginLoadError {
  return new PluginLoadError('the file is not a valid WebAssembly module: it ends in the middle of a section');
}

/** A growing buffer. */
export class ByteWriter {
  #bytes: Uint8Array;
  #length = 0;

  constructor(capacity = 1024) {
    this.#bytes = new Uint8Array(capacity);
  }

  #reserve(more: number): void {
    const want = this.#length + more;
    if (want <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(want, this.#bytes.length * 2));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
  }

  u8(byte: number): this {
    this.#reserve(1);
    this.#bytes[this.#length++] = byte;
    return this;
  }

  u32(value: number): this {
    let rest = value;
    while (rest >= 0x80) {
      this.u8((rest % 0x80) | 0x80);
      rest = Math.floor(rest / 0x80);
    }
    return this.u8(rest);
  }

  /** A signed LEB128 of a non-negative or negative 32-bit integer. */
  s32(value: number): this {
    let rest = value | 0;
    for (;;) {
      const low = rest & 0x7f;
      rest >>= 7;
      if ((rest === 0 && (low & 0x40) === 0) || (rest === -1 && (low & 0x40) !== 0)) return this.u8(low);
      this.u8(low | 0x80);
    }
  }

  raw(bytes: Uint8Array): this {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
    return this;
  }

  name(text: string): this {
    const bytes = new TextEncoder().encode(text);
    return this.u32(bytes.length).raw(bytes);
  }

  /** Length-prefixed, as sections and function bodies are. */
  block(content: ByteWriter): this {
    const bytes = content.take();
    return this.u32(bytes.length).raw(bytes);
  }

  take(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }
}
