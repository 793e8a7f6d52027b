/** Bytes of JSON as text: a byte order mark is none of it, for all readers alike (docs/decisions.md#one-reading). */

const utf8 = new TextDecoder('utf-8');

/** What is no UTF-8 becomes U+FFFD. */
export function jsonText(bytes: Uint8Array): string {
  return utf8.decode(bytes);
}
