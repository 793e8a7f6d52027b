/**
 * Compares the names of an object's members in the text itself, without parsing it. If the text is malformed, names are
 * strings that a reader could take for them: those behind `{`, or behind `,` in an object.
 */
import { forgetNames, HASH_FACTOR, HASH_SEED, ObjectNames } from './name-list.ts';
import { endOfString } from './string-end.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const SPACE = 0x20;

/**
 * Reports whether an object of the text has a name twice. Takes time in proportion to the text's length, however deep
 * it is.
 */
export function repeatsName(text: Uint8Array): boolean {
  const repeats = new MemberNames(text).repeat();
  forgetNames();
  return repeats;
}

class MemberNames {
  /** The text; behind it, names that were written with escapes, without them. */
  #text: Uint8Array;
  readonly #length: number;
  #unescapedEnd: number;
  /** The innermost object; null in a list, or outside. */
  #object: ObjectNames | null = null;
  /** The enclosing objects and lists. */
  readonly #outer: (ObjectNames | null)[] = [];
  /** Names of all open objects. */
  #names = 0;

  constructor(text: Uint8Array) {
    this.#text = text;
    this.#length = text.length;
    this.#unescapedEnd = text.length;
  }

  repeat(): boolean {
    const length = this.#length;
    for (let at = 0; at < length; ) {
      const text = this.#text;
      const byte = text[at++] as number;
      if (byte === QUOTE) at = endOfString(text, at, length) + 1;
      else if (byte === COMMA ? this.#object !== null : byte === 0x7b) {
        if (byte === 0x7b) this.#open(new ObjectNames(this.#names));
        at = this.#name(text, at);
        if (at < 0) return true;
      } else if (byte === 0x5b) this.#open(null);
      else if (byte === 0x5d || byte === 0x7d) this.#close();
    }
    return false;
  }

  #open(object: ObjectNames | null): void {
    this.#outer.push(this.#object);
    this.#object = object;
  }

  #close(): void {
    if (this.#object !== null) this.#names = this.#object.first;
    this.#object = this.#outer.pop() ?? null;
  }

  /** Reads the name that may begin here. Returns the position behind it, or -1 if the object has it already. */
  #name(text: Uint8Array, from: number): number {
    const length = this.#length;
    let at = from;
    while (at < length && (text[at] as number) <= SPACE) at++;
    if (text[at] !== QUOTE) return at;
    const start = ++at;
    let hash = HASH_SEED;
    for (; at < length; at++) {
      const byte = text[at] as number;
      if (byte === QUOTE) break;
      if (byte === BACKSLASH) return this.#escapedName(start);
      hash = Math.imul(hash ^ byte, HASH_FACTOR);
    }
    return this.#isNew(start, at, hash) ? at + 1 : -1;
  }

  #escapedName(start: number): number {
    const behind = endOfString(this.#text, start, this.#length) + 1;
    const name = unescaped(this.#text.subarray(start, behind - 1));
    if (this.#text.length === this.#length) {
      // No name is longer without its escapes.
      const larger = Buffer.allocUnsafe(2 * this.#length);
      larger.set(this.#text);
      this.#text = larger;
    }
    const at = this.#unescapedEnd;
    this.#text.set(name, at);
    this.#unescapedEnd += name.length;
    let hash = HASH_SEED;
    for (const byte of name) hash = Math.imul(hash ^ byte, HASH_FACTOR);
    return this.#isNew(at, at + name.length, hash) ? behind : -1;
  }

  #isNew(start: number, end: number, hash: number): boolean {
    this.#names++;
    return this.#object?.add(this.#text, start, end, hash) ?? true;
  }
}

/** Returns the content of a string, in UTF-8; unchanged if it is malformed. */
function unescaped(inside: Uint8Array): Uint8Array {
  try {
    return Buffer.from(String(JSON.parse(`"${Buffer.from(inside).toString()}"`)));
  } catch {
    return inside;
  }
}
