/** JSON that is only passed on: numbers that JavaScript cannot hold stay as they were written. */

/** A number of more digits than a double has, or with an exponent. */
const MAY_BE_INEXACT = /\d{16}|\d[.\d]{16}|\d[eE][+-]?\d/;

/** Throws SyntaxError. Written by `JSON.stringify`, the value is what was read, but for white space and repeated members. */
export function parseExactly(text: string): unknown {
  return MAY_BE_INEXACT.test(text) ? JSON.parse(text, asWritten as never) : JSON.parse(text);
}

function asWritten(_: string, value: unknown, { source }: { readonly source?: string }): unknown {
  return typeof value === 'number' && source !== undefined && String(value) !== source ? rawJson(source) : value;
}

/** Of ECMAScript 2026, which TypeScript does not know yet. */
const rawJson = (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON;
