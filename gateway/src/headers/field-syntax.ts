/** The syntax of HTTP fields (RFC 9110, sections 5.1 and 5.5). */

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const NOT_IN_VALUE = /[^\t\x20-\x7e\x80-\xff]/;

/** Reports whether it is a token, such as a field name or a method, of any length. */
export function isHttpToken(text: string): boolean {
  return TOKEN.test(text);
}

/** Reports whether it is a field value, of any length. */
export function isFieldValue(value: string): boolean {
  return !NOT_IN_VALUE.test(value);
}
