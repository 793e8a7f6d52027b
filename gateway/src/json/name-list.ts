/**
 * Names of the members of open objects, by their positions in a text. Those of an object follow those of the enclosing
 * objects, and are removed when it closes.
 */
import { randomInt } from 'node:crypto';

/** Seed of the hash of names; unknown to clients, so that they cannot choose names that collide in a table. */
export const HASH_SEED = randomInt(2 ** 32) | 0;
export const HASH_FACTOR = (randomInt(2 ** 32) & ~7) | 5;

/** Names of an object that are compared each with each; past it, there is a table. */
const FEW = 8;
/** Names of which the memory is kept from one text to the next. */
const KEPT = 4096;

let starts = new Int32Array(KEPT);
let ends = new Int32Array(KEPT);
let hashes = new Int32Array(KEPT);

/** Frees the memory of a text with very many names. */
export function forgetNames(): void {
  if (starts.length > KEPT) resize(KEPT);
}

function resize(length: number): void {
  const resized = (list: Int32Array) => {
    const other = new Int32Array(length);
    other.set(list.subarray(0, length));
    return other;
  };
  starts = resized(starts);
  ends = resized(ends);
  hashes = resized(hashes);
}

function isSame(text: Uint8Array, one: number, other: number): boolean {
  if (hashes[one] !== hashes[other]) return false;
  let a = starts[one] as number;
  let b = starts[other] as number;
  const end = ends[one] as number;
  if (end - a !== (ends[other] as number) - b) return false;
  while (a < end) if (text[a++] !== text[b++]) return false;
  return true;
}

/** One object's. */
export class ObjectNames {
  /** The number of its first name. */
  readonly first: number;
  #next: number;
  #table: NameTable | null = null;

  constructor(first: number) {
    this.first = first;
    this.#next = first;
  }

  /** Returns false if the object has the name already. `hash`: of its bytes. */
  add(text: Uint8Array, start: number, end: number, hash: number): boolean {
    const name = this.#next;
    if (name === starts.length) resize(2 * name);
    starts[name] = start;
    ends[name] = end;
    hashes[name] = hash;
    this.#next = name + 1;
    if (name - this.first < FEW) {
      for (let i = this.first; i < name; i++) if (isSame(text, i, name)) return false;
      return true;
    }
    this.#table ??= new NameTable(text, this.first, name);
    return this.#table.add(text, name);
  }
}

/** A table by hash, with open addressing. */
class NameTable {
  /** 0: free; else a name's number and one. */
  #slots = new Int32Array(64);
  /** Shift that turns a hash into a slot. */
  #shift = 26;
  #used = 0;

  /** Holds names from `first` to `end`, which must differ. */
  constructor(text: Uint8Array, first: number, end: number) {
    for (let name = first; name < end; name++) this.add(text, name);
  }

  add(text: Uint8Array, name: number): boolean {
    if (2 * ++this.#used > this.#slots.length) this.#grow();
    const slots = this.#slots;
    let slot = this.#slotOf(name);
    for (; ; slot = (slot + 1) & (slots.length - 1)) {
      const entry = slots[slot] as number;
      if (entry === 0) break;
      if (isSame(text, entry - 1, name)) return false;
    }
    slots[slot] = name + 1;
    return true;
  }

  #slotOf(name: number): number {
    return Math.imul(hashes[name] as number, 0x9e3779b1) >>> this.#shift;
  }

  #grow(): void {
    const before = this.#slots;
    const slots = new Int32Array(4 * before.length);
    this.#shift -= 2;
    this.#slots = slots;
    for (const entry of before) {
      if (entry === 0) continue;
      let slot = this.#slotOf(entry - 1);
      while (slots[slot] !== 0) slot = (slot + 1) & (slots.length - 1);
      slots[slot] = entry;
    }
  }
}
