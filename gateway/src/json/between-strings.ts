/** Parts of a JSON text between its strings, which are most of it. */

/** Characters of the shortest part that holds more than punctuation. */
const SHORTEST = 2;

/** Reports whether `test` holds of a part. */
export function someBetweenStrings(text: string, test: (part: string) => boolean): boolean {
  for (let from = 0; ; ) {
    const quote = text.indexOf('"', from);
    const end = quote < 0 ? text.length : quote;
    if (end - from >= SHORTEST && test(text.slice(from, end))) return true;
    if (quote < 0) return false;
    from = behindString(text, quote);
  }
}

/** Returns the position behind a string. `quote`: position of its opening quote. */
export function behindString(text: string, quote: number): number {
  for (let end = text.indexOf('"', quote + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text[end - 1 - escapes] === '\\') escapes++;
    if (escapes % 2 === 0) return end + 1;
  }
  return text.length;
}
