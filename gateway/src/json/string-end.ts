const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** Bytes of a string after which the host's search is the faster way to its end. */
const NEAR = 24;

/**
 * Returns the end of the string whose content, or an escape in it, begins at `start`: its quote's position, or
 * `length`.
 */
export function endOfString(text: Uint8Array, start: number, length: number): number {
  for (let at = start; ; ) {
    const near = Math.min(length, at + NEAR);
    while (at < near) {
      const byte = text[at];
      if (byte === QUOTE) return at;
      at += byte === BACKSLASH ? 2 : 1;
    }
    if (at >= length) return length;
    const quote: number = Buffer.prototype.indexOf.call(text, QUOTE, at);
    if (quote < 0 || quote >= length) return length;
    let before = quote;
    while (before > at && text[before - 1] === BACKSLASH) before--;
    if (((quote - before) & 1) === 0) return quote;
    at = quote + 1;
  }
}
