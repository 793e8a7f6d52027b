/** JSON that is only passed on: numbers that JavaScript cannot hold stay as they were written. */
import { decimalText, readDecimal } from './decimal.ts';

/** Characters of the shortest number without an exponent that binary64 may not hold; the point is one of them. */
const LONG = 16;
/** A number of that length covers two places which are this far apart. */
const STRIDE = LONG / 2;
const EXPONENT = /\d[eE][-+\d]/;
const [DIGIT_0, DIGIT_9, POINT] = [0x30, 0x39, 0x2e];

/**
 * Reports whether the text may have a number that `JSON.parse` changes, in a string or not. Looks at one character in
 * sixteen of most texts.
 */
export function mayBeInexact(text: string): boolean {
  for (let at = STRIDE - 1; at + STRIDE < text.length; at += STRIDE) {
    if (!isDigitOrPoint(text, at + STRIDE)) at += STRIDE;
    else if (isDigitOrPoint(text, at) && isLong(text, at)) return true;
  }
  return EXPONENT.test(text);
}

/** `at`: a place within the number. */
function isLong(text: string, at: number): boolean {
  let [first, end] = [at, at + 1];
  while (isDigitOrPoint(text, first - 1)) first--;
  while (end - first < LONG && isDigitOrPoint(text, end)) end++;
  return end - first >= LONG;
}

/** Returns false outside the text. */
function isDigitOrPoint(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return (code >= DIGIT_0 && code <= DIGIT_9) || code === POINT;
}

/**
 * Throws SyntaxError. `JSON.stringify` writes the value as the text had it, except for white space and repeated
 * members.
 */
export function parseExactly(text: string): unknown {
  return mayBeInexact(text) ? JSON.parse(text, asWritten as never) : JSON.parse(text);
}

/** The number itself, as near as JavaScript can hold it; other values as they are. */
export function plainNumber(value: unknown): unknown {
  return isWrittenNumber(value) ? Number(value.rawJSON) : value;
}

/** For `JSON.parse`: a number that JavaScript writes with other digits stays as it was written. */
export function asWritten(_: string, value: unknown, { source }: { readonly source?: string }): unknown {
  return typeof value === 'number' && source !== undefined && String(value) !== source ? rawJson(source) : value;
}

/** A number read by `parseExactly` or `parseAsWritten`: not an object, whatever its type says. */
export interface WrittenNumber {
  readonly rawJSON: string;
}

export type JsonNumber = number | WrittenNumber;

/** Functions of ECMAScript 2026, which TypeScript does not know yet. */
const { rawJSON: rawJson, isRawJSON: isRawJson } = JSON as unknown as {
  rawJSON(text: string): WrittenNumber;
  isRawJSON(value: unknown): boolean;
};

/** `text`: a number of JSON. */
export function rawNumber(text: string): WrittenNumber {
  return rawJson(text);
}

export function isWrittenNumber(value: unknown): value is WrittenNumber {
  return isRawJson(value);
}

/** Characters of a number that is compared with another. */
const LONGEST = 100;

/**
 * Returns such a number outside JSON: as JavaScript writes it if that is the same, so that `1.0` and `1e3` are `1` and
 * `1000`.
 */
export function numberText({ rawJSON: written }: WrittenNumber): string {
  const value = Number(written);
  if (/^-?\d+$/.test(written)) return Number.isSafeInteger(value) ? String(value) : written;
  if (written.length > LONGEST) return written;
  const [one, other] = [readDecimal(written), readDecimal(String(value))];
  const isSame = one !== null && other !== null && decimalText(one) === decimalText(other);
  return isSame ? String(value) : written;
}
