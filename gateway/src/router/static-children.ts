/**
 * Children below static segments, found by a part of the path without copying it: a string of its own costs more than
 * the search. A table with open addressing, grown while routes are added.
 */

interface Child<N> {
  readonly sum: number;
  readonly text: string;
  readonly node: N;
}

/** Adds a character code to the sum by which texts are found. */
export function mix(sum: number, code: number): number {
  return (Math.imul(sum, 31) + code) | 0;
}

function sumOf(text: string): number {
  let sum = 0;
  for (let i = 0; i < text.length; i++) sum = mix(sum, text.charCodeAt(i));
  return sum;
}

/** Like `path.startsWith(text, start)`, without the call. */
function standsAt(text: string, path: string, start: number): boolean {
  for (let i = 0; i < text.length; i++) {
    if (text.charCodeAt(i) !== path.charCodeAt(start + i)) return false;
  }
  return true;
}

export class StaticChildren<N> {
  /** Twice as many places as children or more, a power of two. */
  #places: (Child<N> | null)[] = [null];
  #count = 0;

  get(text: string): N | null {
    return this.find(text, 0, text.length, sumOf(text));
  }

  /** Returns the child of the text in `path` from `start`, `length` characters long, with the sum `sum`. */
  find(path: string, start: number, length: number, sum: number): N | null {
    const places = this.#places;
    const mask = places.length - 1;
    for (let i = sum & mask; ; i = (i + 1) & mask) {
      const child = places[i];
      if (child === null || child === undefined) return null;
      if (child.sum === sum && child.text.length === length && standsAt(child.text, path, start)) return child.node;
    }
  }

  /** Returns the child of this text; makes it if it is missing. */
  add(text: string, make: () => N): N {
    const known = this.get(text);
    if (known !== null) return known;
    const made = { sum: sumOf(text), text, node: make() };
    this.#count++;
    const old = this.#places;
    if (2 * this.#count > old.length - 1) {
      this.#places = new Array<Child<N> | null>(old.length * 4).fill(null);
      for (const child of old) if (child) this.#put(child);
    }
    this.#put(made);
    return made.node;
  }

  #put(child: Child<N>): void {
    const mask = this.#places.length - 1;
    let i = child.sum & mask;
    while (this.#places[i] !== null) i = (i + 1) & mask;
    this.#places[i] = child;
  }
}
