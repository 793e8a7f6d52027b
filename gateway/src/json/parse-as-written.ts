/** JSON whose numbers keep all of their digits, for what goes on to clients and providers. */
import { asWritten } from './exact-json.ts';
import { isQuickJson } from './json-scan.ts';

/** A number that JavaScript may write with other digits: also one with zeros at its end, a very small one, and -0. */
const WRITTEN_ANEW = /\d{16}|\d[.\d]{16}|\d[eE]|\.\d*0(?!\d)|0\.000000|-0(?![.\d])/;

/**
 * As `parseExactly`, but every number keeps its digits, also those that say nothing; unless there are so many values that
 * looking at each would hold others up.
 */
export function parseAsWritten(text: string): unknown {
  const keepsDigits = hasNumberWrittenAnew(text) && isQuickJson(Buffer.from(text), { exactly: true });
  return keepsDigits ? JSON.parse(text, asWritten as never) : JSON.parse(text);
}

/** Characters of the shortest such number. */
const SHORTEST = 2;

/** Looks at what is not in strings, which are most of a text for a model. */
function hasNumberWrittenAnew(text: string): boolean {
  for (let from = 0; ; ) {
    const quote = text.indexOf('"', from);
    const end = quote < 0 ? text.length : quote;
    if (end - from >= SHORTEST && WRITTEN_ANEW.test(text.slice(from, end))) return true;
    if (quote < 0) return false;
    from = behindString(text, quote);
  }
}

/** `quote`: the one that opens it. */
function behindString(text: string, quote: number): number {
  for (let end = text.indexOf('"', quote + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text[end - 1 - escapes] === '\\') escapes++;
    if (escapes % 2 === 0) return end + 1;
  }
  return text.length;
}
