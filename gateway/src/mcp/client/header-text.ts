/** Values of headers that repeat what the body says (revision 2026-07-28, "Value Encoding"). */

const PLAIN = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/;

/** What is no plain ASCII is written in base64. */
export function headerText(text: string): string {
  return PLAIN.test(text) && !text.startsWith('=?base64?')
    ? text
    : `=?base64?${Buffer.from(text).toString('base64')}?=`;
}
