/** Values of headers that repeat parts of the body (revision 2026-07-28, "Value Encoding"). */

const PLAIN = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/;

/** Writes text other than plain ASCII in base64. */
export function headerText(text: string): string {
  return PLAIN.test(text) && !text.startsWith('=?base64?') ? text : `=?base64?${base64(text)}?=`;
}

/** Returns base64 of the text's UTF-8, without `Buffer`: pages send such headers, too. */
function base64(text: string): string {
  return btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(''));
}
