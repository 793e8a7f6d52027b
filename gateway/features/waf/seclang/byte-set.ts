/** Bytes and sets of bytes as patterns write them. */

const META = '\\.+*?()|[]{}^$';

/** A byte outside of classes. */
export function literal(character: string): string {
  if (META.includes(character)) return `\\${character}`;
  return character >= ' ' && character <= '~' ? character : hex(character.charCodeAt(0));
}

function hex(byte: number): string {
  return `\\x${byte.toString(16).padStart(2, '0')}`;
}

/** A set of bytes. */
export class ByteSet {
  readonly #has = new Uint8Array(256);

  static of(...ranges: readonly (readonly [number, number])[]): ByteSet {
    const set = new ByteSet();
    for (const [from, to] of ranges) set.add(from, to);
    return set;
  }

  add(from: number, to: number): void {
    this.#has.fill(1, from, to + 1);
  }

  addAll(other: ByteSet): void {
    for (let byte = 0; byte < 256; byte++) if (other.#has[byte] === 1) this.#has[byte] = 1;
  }

  complement(): ByteSet {
    const result = new ByteSet();
    for (let byte = 0; byte < 256; byte++) result.#has[byte] = 1 - this.#has[byte]!;
    return result;
  }

  /** As a class; `negated`: of the bytes that are not in the set. */
  print(negated: boolean): string {
    const parts: string[] = [];
    for (let from = 0; from < 256; ) {
      let to = from;
      while (to < 256 && this.#has[to] === 1) to++;
      if (to > from) parts.push(rangeText(from, to - 1));
      from = to + 1;
    }
    return `[${negated ? '^' : ''}${parts.join('')}]`;
  }
}

function rangeText(from: number, to: number): string {
  if (to - from < 2) return from === to ? inClass(from) : inClass(from) + inClass(to);
  return `${inClass(from)}-${inClass(to)}`;
}

function inClass(byte: number): string {
  const character = String.fromCharCode(byte);
  if ('[]^-&~\\'.includes(character)) return `\\${character}`;
  return character >= ' ' && character <= '~' ? character : hex(byte);
}
