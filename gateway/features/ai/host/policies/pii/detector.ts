/**
 * Detects personal data in a text that is still coming. A detector looks at one place, and at the character before it,
 * so its result does not depend on the pieces in which the text came.
 */

/** The text goes on, and its next part decides. */
export const UNDECIDED = -1;
export const NONE = 0;

export interface Reading {
  /** The text so far. */
  readonly text: string;
  /** The text is complete. */
  readonly isWhole: boolean;
}

/**
 * Returns the number of characters from `at` on that match; NONE or UNDECIDED. `before`: the character before, or
 * empty.
 */
export type Detector = (reading: Reading, at: number, before: string) => number;

export const isDigit = (code: number) => code >= 0x30 && code <= 0x39;
const isUpper = (code: number) => code >= 0x41 && code <= 0x5a;
export const isLetter = (code: number) => isUpper(code & ~0x20) && code < 0x80;
export const isAlphanumeric = (code: number) => isDigit(code) || isLetter(code);

/** Reports whether the character, of any alphabet, belongs to a word: text that follows it directly is part of it. */
export function endsWord(before: string): boolean {
  return before !== '' && /[\p{L}\p{N}_]/u.test(before);
}

/** Returns the end of a run of characters that satisfy the test, at most `most` of them. */
export function runEnd(text: string, from: number, most: number, test: (code: number) => boolean): number {
  const last = Math.min(text.length, from + most);
  let at = from;
  while (at < last && test(text.charCodeAt(at))) at++;
  return at;
}

/** Digits in groups, with one of the separators between two of them. */
export interface Groups {
  /** Digits only. */
  readonly digits: string;
  /** For each group: how many digits there are up to its end, and the place behind it. */
  readonly ends: readonly { readonly count: number; readonly at: number }[];
  /** It may go on with the next piece. */
  readonly isOpen: boolean;
}

/** Reads at most `most` digits. */
export function readGroups({ text, isWhole }: Reading, from: number, separators: string, most: number): Groups {
  let digits = '';
  const ends: { count: number; at: number }[] = [];
  let at = from;
  for (;;) {
    const end = runEnd(text, at, most + 1 - digits.length, isDigit);
    if (end === at) break;
    digits += text.slice(at, end);
    ends.push({ count: digits.length, at: end });
    at = end;
    if (digits.length > most || at >= text.length || !separators.includes(text.charAt(at))) break;
    at++;
  }
  return { digits, ends, isOpen: !isWhole && at >= text.length && digits.length <= most };
}
