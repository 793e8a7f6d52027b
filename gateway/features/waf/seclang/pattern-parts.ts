/** Escapes and classes of patterns. */

import { ByteSet } from './byte-set.ts';
import { quoted } from './diagnostics.ts';
import { PartFault } from './part-fault.ts';

export const UNBOUNDED = 'which cannot be matched in bounded time';
export const REWRITE = 'Write the pattern without it, or split the rule into a chain of two rules.';

export function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

const DIGITS = ByteSet.of([0x30, 0x39]);
const WORD = ByteSet.of([0x30, 0x39], [0x41, 0x5a], [0x5f, 0x5f], [0x61, 0x7a]);
/** PCRE counts the vertical tab, RE2 does not. */
const SPACE = ByteSet.of([0x09, 0x0d], [0x20, 0x20]);
const HORIZONTAL = ByteSet.of([0x09, 0x09], [0x20, 0x20], [0xa0, 0xa0]);
const VERTICAL = ByteSet.of([0x0a, 0x0d], [0x85, 0x85]);

const SETS: Readonly<Record<string, ByteSet>> = {
  d: DIGITS,
  D: DIGITS.complement(),
  w: WORD,
  W: WORD.complement(),
  s: SPACE,
  S: SPACE.complement(),
  h: HORIZONTAL,
  H: HORIZONTAL.complement(),
  v: VERTICAL,
  V: VERTICAL.complement(),
};

const POSIX: Readonly<Record<string, ByteSet>> = {
  alnum: ByteSet.of([0x30, 0x39], [0x41, 0x5a], [0x61, 0x7a]),
  alpha: ByteSet.of([0x41, 0x5a], [0x61, 0x7a]),
  ascii: ByteSet.of([0, 0x7f]),
  blank: ByteSet.of([0x09, 0x09], [0x20, 0x20]),
  cntrl: ByteSet.of([0, 0x1f], [0x7f, 0x7f]),
  digit: DIGITS,
  graph: ByteSet.of([0x21, 0x7e]),
  lower: ByteSet.of([0x61, 0x7a]),
  print: ByteSet.of([0x20, 0x7e]),
  punct: ByteSet.of([0x21, 0x2f], [0x3a, 0x40], [0x5b, 0x60], [0x7b, 0x7e]),
  space: SPACE,
  upper: ByteSet.of([0x41, 0x5a]),
  word: WORD,
  xdigit: ByteSet.of([0x30, 0x39], [0x41, 0x46], [0x61, 0x66]),
};

const SINGLE: Readonly<Record<string, number>> = { a: 7, e: 0x1b, f: 0x0c, n: 0x0a, r: 0x0d, t: 0x09 };
const ASSERTIONS = 'bBAz';

interface Escape {
  readonly byte?: number;
  readonly set?: ByteSet;
  readonly assertion?: string;
  readonly length: number;
}

const HEX = /\\x(?:\{([0-9a-fA-F]*)\}|([0-9a-fA-F]{0,2}))/y;
const OCTAL = /\\([0-7]{1,3})/y;

/** Throws PartFault. */
export function readEscape(source: string, at: number, where: 'outside' | 'class'): Escape {
  const letter = source[at + 1];
  if (letter === undefined)
    throw new PartFault(at, 'the pattern ends with a backslash', 'Write \\x5c for a backslash.');
  const set = SETS[letter];
  if (set !== undefined) return { set, length: 2 };
  const byte = SINGLE[letter];
  if (byte !== undefined) return { byte, length: 2 };
  if (letter === 'x') return hexEscape(source, at);
  if (letter === '0' || (where === 'class' && letter >= '1' && letter <= '7')) return octalEscape(source, at);
  if (where === 'class' && letter === 'b') return { byte: 8, length: 2 };
  if (where === 'outside' && ASSERTIONS.includes(letter)) return { assertion: `\\${letter}`, length: 2 };
  if (letter >= '1' && letter <= '9')
    throw new PartFault(at, `the pattern has a back reference, ${UNBOUNDED}`, REWRITE);
  if (/[A-Za-z]/.test(letter))
    throw new PartFault(
      at,
      `the engine does not know ${quoted(`\\${letter}`)} in patterns`,
      letter === 'Z' ? 'Write (?:\\n?\\z).' : 'Write the bytes that it stands for, as in [\\x00-\\x1f].',
    );
  return { byte: letter.charCodeAt(0), length: 2 };
}

function hexEscape(source: string, at: number): Escape {
  const match = matchAt(HEX, source, at);
  const digits = match?.[1] ?? match?.[2] ?? '';
  const byte = Number.parseInt(digits || '0', 16);
  if (match === null || byte > 0xff)
    throw new PartFault(
      at,
      `${quoted(match?.[0] ?? '\\x')} is not a byte`,
      'Patterns match bytes: write each byte of the character in UTF-8, as in \\xe2\\x82\\xac.',
    );
  return { byte, length: match[0].length };
}

function octalEscape(source: string, at: number): Escape {
  const match = matchAt(OCTAL, source, at);
  const byte = Number.parseInt(match?.[1] ?? '0', 8);
  if (byte > 0xff) throw new PartFault(at, `${quoted(match?.[0] ?? '')} is not a byte`, 'Write \\x with two digits.');
  return { byte, length: match?.[0].length ?? 2 };
}

const POSIX_CLASS = /\[:(\^?)(\w+):\]/y;

interface Item {
  readonly set?: ByteSet;
  readonly byte?: number;
  readonly length: number;
}

/** Throws PartFault. */
export function readClass(source: string, start: number): { readonly text: string; readonly end: number } {
  const negated = source[start + 1] === '^';
  const first = start + (negated ? 2 : 1);
  const set = new ByteSet();
  for (let at = first; at < source.length; ) {
    if (source[at] === ']' && at > first) return { text: set.print(negated), end: at + 1 };
    at = addItem(set, source, at);
  }
  throw new PartFault(start, 'the class is not closed', 'Write ], or \\[ for the character.');
}

/** Adds a byte, a range or a set; returns the offset behind it. */
function addItem(set: ByteSet, source: string, at: number): number {
  const item = readItem(source, at);
  const next = at + item.length;
  if (item.set !== undefined) {
    set.addAll(item.set);
    return next;
  }
  const from = item.byte!;
  if (source[next] !== '-' || source[next + 1] === ']' || next + 1 >= source.length) {
    set.add(from, from);
    return next;
  }
  const last = readItem(source, next + 1);
  if (last.byte === undefined) {
    // A hyphen before a set stands for itself.
    set.add(from, from);
    set.add(0x2d, 0x2d);
    return next + 1;
  }
  if (last.byte < from)
    throw new PartFault(at, 'the range has its ends in the wrong order', 'Write the smaller character first.');
  set.add(from, last.byte);
  return next + 1 + last.length;
}

function readItem(source: string, at: number): Item {
  if (source[at] === '\\') return readEscape(source, at, 'class');
  const posix = matchAt(POSIX_CLASS, source, at);
  if (posix !== null) {
    const set = POSIX[posix[2]!];
    if (set === undefined)
      throw new PartFault(at, `unknown class ${quoted(posix[0])}`, 'Write one such as [:alpha:] or [:digit:].');
    return { set: posix[1] === '^' ? set.complement() : set, length: posix[0].length };
  }
  const byte = source.charCodeAt(at);
  if (byte >= 0x80)
    throw new PartFault(
      at,
      'the class holds a character of several bytes, each of which it would match by itself',
      'Write alternatives, as in (?:é|à).',
    );
  return { byte, length: 1 };
}
