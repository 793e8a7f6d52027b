/** Bytes of JSON as text, without a byte order mark, for all readers alike (docs/decisions.md#one-reading). */

const utf8 = new TextDecoder('utf-8');

/** Decodes UTF-8; malformed bytes become U+FFFD. */
export function jsonText(bytes: Uint8Array): string {
  return utf8.decode(bytes);
}
