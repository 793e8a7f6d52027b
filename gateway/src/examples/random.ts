import { fnv1a } from '../text/fnv1a.ts';

/** Numbers that look random, and are the same for the same seed: mulberry32, seeded with FNV-1a of a text. */
export class Random {
  #state: number;

  constructor(seed: string) {
    this.#state = fnv1a(seed);
  }

  /** At least 0, below 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  }

  /** A whole number of 0 or more, below `count`. */
  below(count: number): number {
    return Math.floor(this.next() * count);
  }

  /** Returns undefined if the list is empty. */
  pick<T>(values: readonly T[]): T | undefined {
    return values[this.below(values.length)];
  }

  digits(count: number): string {
    let text = '';
    while (text.length < count) text += this.below(10);
    return text;
  }

  hex(count: number): string {
    let text = '';
    while (text.length < count) text += this.below(16).toString(16);
    return text;
  }
}
