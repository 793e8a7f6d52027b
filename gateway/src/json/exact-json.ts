/** JSON that is only passed on: numbers that JavaScript cannot hold stay as they were written. */

/** A number of more digits than a double has, or with an exponent. */
const MAY_BE_INEXACT = /\d{16}|\d[.\d]{16}|\d[eE][+-]?\d/;

/** Whether the text may have a number that `JSON.parse` changes. */
export function mayBeInexact(text: string): boolean {
  return MAY_BE_INEXACT.test(text);
}

/** Throws SyntaxError. Written by `JSON.stringify`, the value is what was read, but for white space and repeated members. */
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

/** A number in what `parseExactly` or `parseAsWritten` has read: no object, whatever its type says. */
export interface WrittenNumber {
  readonly rawJSON: string;
}

export type JsonNumber = number | WrittenNumber;

/** Of ECMAScript 2026, which TypeScript does not know yet. */
const { rawJSON: rawJson, isRawJSON: isRawJson } = JSON as unknown as {
  rawJSON(text: string): WrittenNumber;
  isRawJSON(value: unknown): boolean;
};

export function isWrittenNumber(value: unknown): value is WrittenNumber {
  return isRawJson(value);
}

/** Characters of a number that is compared with another. */
const LONGEST = 100;

/** Of such a number outside JSON: as JavaScript writes it where that is the same, so that `1.0` and `1e3` are `1` and `1000`. */
export function numberText({ rawJSON: written }: WrittenNumber): string {
  const value = Number(written);
  if (/^-?\d+$/.test(written)) return Number.isSafeInteger(value) ? String(value) : written;
  const isSame = written.length <= LONGEST && decimalOf(written) === decimalOf(String(value));
  return isSame ? String(value) : written;
}

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** Sign, digits and exponent, without zeros that say nothing; null: it is none. */
function decimalOf(text: string): string | null {
  const [, sign, whole = '', fraction = '', exponent = '0'] = DECIMAL.exec(text) ?? [];
  if (sign === undefined) return null;
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return '0';
  return `${sign}${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}
