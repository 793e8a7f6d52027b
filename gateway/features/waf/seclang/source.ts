/** Text of a file of rules: directives with their continuation lines, and the place of each byte. */

import type { FileDiagnostics } from './diagnostics.ts';
import { MAX_DIRECTIVE_BYTES } from './limits.ts';
import type { Place } from './model.ts';

/** Part of a directive that stands in one line of the file. */
interface Segment {
  readonly offset: number;
  readonly line: number;
  readonly indent: number;
}

/** A directive: its lines are trimmed and joined without the backslashes at their ends. */
export class DirectiveText {
  readonly text: string;
  readonly #segments: readonly Segment[];

  constructor(text: string, segments: readonly Segment[]) {
    this.text = text;
    this.#segments = segments;
  }

  placeOf(offset: number): Omit<Place, 'file'> {
    const segment = this.#segments.findLast((each) => each.offset <= offset) ?? { offset: 0, line: 1, indent: 0 };
    // Bytes from 0x80 to 0xBF continue a character of UTF-8.
    const before = this.text.slice(segment.offset, offset).replace(/[\x80-\xbf]/g, '');
    return { line: segment.line, column: segment.indent + before.length + 1 };
  }
}

export const SPACES = ' \t\r\f\v';

/** Without spaces at both ends; `trim` of JavaScript would take bytes of other characters. */
export function trimmed(bytes: string): string {
  let from = 0;
  let to = bytes.length;
  while (from < to && SPACES.includes(bytes[from]!)) from++;
  while (to > from && SPACES.includes(bytes[to - 1]!)) to--;
  return bytes.slice(from, to);
}

/** Yields the directives of a file; comments and empty lines are left out, even between continuation lines. */
export function* directivesOf(source: string, diagnostics: FileDiagnostics): Generator<DirectiveText> {
  let parts: string[] = [];
  let segments: Segment[] = [];
  let length = 0;
  let line = 0;
  const take = () => {
    const whole = new DirectiveText(parts.join(''), segments);
    const fits = length <= MAX_DIRECTIVE_BYTES;
    if (!fits)
      diagnostics.error(
        whole.placeOf(0),
        `the directive is longer than ${MAX_DIRECTIVE_BYTES} bytes`,
        'Split it into several rules, or move phrases to a file for @pmFromFile.',
      );
    parts = [];
    segments = [];
    length = 0;
    return fits && trimmed(whole.text) !== '' ? [whole] : [];
  };
  for (let at = 0; at < source.length; ) {
    const newline = source.indexOf('\n', at);
    const next = newline < 0 ? source.length : newline + 1;
    let from = at;
    let to = newline < 0 ? source.length : newline;
    at = next;
    line++;
    const start = from;
    while (from < to && SPACES.includes(source[from]!)) from++;
    while (to > from && SPACES.includes(source[to - 1]!)) to--;
    if (source[from] === '#' && from < to) continue;
    if (from === to) {
      if (segments.length === 0) continue;
      diagnostics.error(
        { line, column: 1 },
        'an empty line follows a line that ends with a backslash',
        'Remove the backslash, or the empty line.',
      );
      yield* take();
      continue;
    }
    const continues = source[to - 1] === '\\';
    segments.push({ offset: length, line, indent: from - start });
    const part = source.slice(from, continues ? to - 1 : to);
    length += part.length;
    // Parts past the limit need not be kept: the directive is refused.
    if (length <= MAX_DIRECTIVE_BYTES) parts.push(part);
    if (!continues) yield* take();
  }
  if (segments.length === 0) return;
  diagnostics.error(
    { line, column: 1 },
    'the file ends with a backslash',
    'Remove the backslash, or add the rest of the directive.',
  );
  yield* take();
}
