/**
 * Estimates the cost of parsing a server's JSON text from its bytes (docs/decisions.md#json-cost): `JSON.parse` cannot
 * be interrupted, and for some texts a megabyte takes 300 ms and twenty times its length. Malformed JSON gets some
 * estimate.
 */
import { randomInt } from 'node:crypto';
import { MOST_NESTING } from './nesting.ts';
import { endOfString } from './string-end.ts';

export interface JsonScan {
  /** Parsing it would delay other requests for too long; the other figures stop there. */
  readonly isTooCostly: boolean;
  /** Bytes that its values take, at most. */
  readonly heapBytes: number;
  /** Members of all objects, repeated ones too. */
  readonly members: number;
  /** A member's name is written with an escape. */
  readonly hasEscapedName: boolean;
}

/** Bytes that are parsed on the event loop at most; functions of AWS answer with 6 MiB. */
export const MOST_JSON_BYTES = 8 << 20;
/** Nanoseconds, by the costs below: with the scan itself it stays under 50 ms. */
const MOST_NS = 40_000_000;
/** Bytes that are parsed in less than 10 ms, whatever they say. */
export const SHORT_JSON = 32 << 10;
/** Bytes between looks at the cost. */
const SLICE = 16 << 10;
/** Bytes of a string from which on the host's search is faster. */
const FAR = 32;

/** Nanoseconds, as measured of the dearest texts of each kind. */
const NS = { byte: 1, escape: 4, number: 20, numberByte: 3, container: 65, string: 150, member: 120, newMember: 1_500 };
/** The same if a name has an escape: the text is then read token by token. */
const NS_ESCAPED = { token: 250, member: 1_000, newMember: 4_000 };
/** Added to the others for a value that is read exactly. */
const NS_EXACT = 900;
/** Bytes on the heap. */
const HEAP = { value: 16, container: 72, string: 40, member: 16, newMember: 300 };

const BACKSLASH = 0x5c;
/** Token that a byte begins outside of strings, by its value. */
const [BLANK, WORD, STRING, OBJECT, LIST, END, NEXT, COLON] = [0, 1, 2, 3, 4, 5, 6, 7] as const;
const kinds = new Uint8Array(256).fill(WORD);
kinds.fill(BLANK, 0, 0x21);
for (const [text, kind] of [
  ['"', STRING],
  ['{', OBJECT],
  ['[', LIST],
  ['}]', END],
  [',', NEXT],
  [':', COLON],
] as const) {
  for (const byte of Buffer.from(text)) kinds[byte] = kind;
}

/** Members that came lately, by the preceding names of their object: an engine knows the shapes of these. */
const KNOWN = 4096;
const seed = randomInt(2 ** 31) | 1;
const PRIME = 0x01000193;

export interface ScanOptions {
  /** The text is read by `parseExactly`, which looks at each value. Default false. */
  readonly exactly?: boolean;
}

/** Reads each byte once, and stops once the text is too costly. */
export function scanJson(bytes: Uint8Array, options: ScanOptions = {}): JsonScan {
  const scan = new Scan(bytes, options.exactly === true);
  scan.run();
  return scan;
}

/**
 * Reports whether parsing delays no other request; a short text is quick, whatever its content. A longer one is also
 * nested at most `MOST_NESTING` levels deep.
 */
export function isQuickJson(bytes: Uint8Array, options: ScanOptions = {}): boolean {
  return bytes.length <= SHORT_JSON || !scanJson(bytes, options).isTooCostly;
}

class Scan implements JsonScan {
  readonly #bytes: Uint8Array;
  readonly #exactly: boolean;
  readonly #known = new Int32Array(KNOWN);
  isTooCostly = false;
  hasEscapedName = false;
  members = 0;
  #newMembers = 0;
  #containers = 0;
  #strings = 0;
  #escapes = 0;
  #numbers = 0;
  #numberBytes = 0;

  constructor(bytes: Uint8Array, exactly: boolean) {
    this.#bytes = bytes;
    this.#exactly = exactly;
  }

  run(): void {
    const { length } = this.#bytes;
    this.isTooCostly = length > MOST_JSON_BYTES;
    for (let at = 0; at < length && !this.isTooCostly; ) {
      at = this.#runTo(at, Math.min(length, at + SLICE));
      if (this.#cost > MOST_NS) this.isTooCostly = true;
    }
  }

  #depth = 0;
  #expectsName = false;
  /** For the object at each depth: the hash of its names so far; 0 for a list. */
  readonly #shapes = new Int32Array(MOST_NESTING + 1);

  /** Returns the position to go on at: behind the token that began before `end`. */
  #runTo(start: number, end: number): number {
    const bytes = this.#bytes;
    const shapes = this.#shapes;
    let depth = this.#depth;
    let expectsName = this.#expectsName;
    let [numbers, numberBytes, containers] = [0, 0, 0];
    let at = start;
    while (at < end) {
      const kind = kinds[bytes[at++] as number];
      if (kind === WORD) {
        const from = at;
        while (kinds[bytes[at] as number] === WORD) at++;
        numbers++;
        numberBytes += at - from;
      } else if (kind === NEXT) {
        expectsName = shapes[depth] !== 0;
      } else if (kind === STRING) {
        const quote = endOfString(bytes, at, bytes.length);
        if (expectsName) shapes[depth] = this.#name(shapes[depth] as number, at, quote);
        else this.#string(at, quote);
        expectsName = false;
        at = quote + 1;
      } else if (kind === OBJECT || kind === LIST) {
        containers++;
        expectsName = kind === OBJECT;
        depth++;
        if (depth > MOST_NESTING) {
          this.isTooCostly = true;
          return at;
        }
        shapes[depth] = expectsName ? seed : 0;
      } else if (kind === END) {
        expectsName = false;
        if (depth > 0) depth--;
      }
    }
    this.#depth = depth;
    this.#expectsName = expectsName;
    this.#numbers += numbers;
    this.#numberBytes += numberBytes;
    this.#containers += containers;
    return at;
  }

  /** Returns the hash of the object's names with this one. */
  #name(before: number, from: number, end: number): number {
    const bytes = this.#bytes;
    let hash = before;
    for (let at = from; at < end; at++) {
      const byte = bytes[at] as number;
      if (byte === BACKSLASH) this.hasEscapedName = true;
      hash = Math.imul(hash ^ byte, PRIME);
    }
    hash = Math.imul(hash ^ (hash >>> 15), seed) | 1;
    const slot = (hash >>> 8) & (KNOWN - 1);
    if (this.#known[slot] !== hash) this.#newMembers++;
    this.#known[slot] = hash;
    this.members++;
    return hash;
  }

  /** After the first escape each byte of a string counts as half of one. */
  #string(from: number, end: number): void {
    this.#strings++;
    if (end - from < 2) return;
    const first = end - from > FAR ? this.#search(from) : this.#firstEscape(from, end);
    if (first >= 0 && first < end) this.#escapes += (end - first) / 2;
  }

  #firstEscape(from: number, end: number): number {
    let at = from;
    while (at < end && this.#bytes[at] !== BACKSLASH) at++;
    return at;
  }

  #nextEscape = 0;

  /** The next one in the text, which is searched through once. */
  #search(from: number): number {
    if (this.#nextEscape >= 0 && this.#nextEscape < from) {
      this.#nextEscape = Buffer.prototype.indexOf.call(this.#bytes, BACKSLASH, from);
    }
    return this.#nextEscape;
  }

  get #cost(): number {
    const members = this.members - this.#newMembers;
    const values = this.#containers + this.#numbers + this.#strings;
    let cost =
      NS.byte * this.#bytes.length +
      NS.escape * this.#escapes +
      NS.number * this.#numbers +
      NS.numberByte * this.#numberBytes +
      NS.container * this.#containers +
      NS.string * this.#strings +
      NS.member * members +
      NS.newMember * this.#newMembers;
    if (this.#exactly) cost += NS_EXACT * values;
    if (!this.hasEscapedName) return cost;
    return cost + NS_ESCAPED.token * values + NS_ESCAPED.member * members + NS_ESCAPED.newMember * this.#newMembers;
  }

  get heapBytes(): number {
    return (
      // A character takes two bytes in text that is not ASCII.
      2 * this.#bytes.length +
      HEAP.value * this.#numbers +
      HEAP.container * this.#containers +
      HEAP.string * this.#strings +
      HEAP.member * this.members +
      HEAP.newMember * this.#newMembers
    );
  }
}
