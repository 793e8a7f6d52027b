/** Words of a directive. */

import { SPACES } from './source.ts';

/** A word of a directive, without its quotes. */
export interface Word {
  readonly text: string;
  readonly quoted: boolean;
  /** Offset in the directive of a byte of `text`. */
  at(index: number): number;
}

/** The directive cannot be split into words. */
export interface WordFault {
  readonly offset: number;
  readonly message: string;
  readonly hint: string;
}

/**
 * Splits a directive at spaces; double quotes hold spaces, and `\"` in them is a quote. Other backslashes stay, because
 * patterns need them. A quoted word may follow another one directly: `"@rx a"\` at the end of a line is joined so.
 */
export function wordsOf(text: string): readonly Word[] | WordFault {
  const words: Word[] = [];
  for (let at = 0; at < text.length; ) {
    const first = text[at]!;
    if (SPACES.includes(first)) {
      at++;
      continue;
    }
    if (first === "'")
      return { offset: at, message: 'single quotes do not hold an argument', hint: 'Write double quotes here.' };
    const end = first === '"' ? closingQuote(text, at) : endOfWord(text, at);
    if (end < 0)
      return {
        offset: at,
        message: 'the double quote is not closed',
        hint: 'Close it, and end each line but the last with a backslash; write \\" for a quote in the argument.',
      };
    words.push(first === '"' ? quotedWord(text, at, end) : plainWord(text, at, end));
    at = first === '"' ? end + 1 : end;
    if (at < text.length && text[at] !== '"' && !SPACES.includes(text[at]!))
      return {
        offset: at,
        message: 'text follows a closing double quote',
        hint: 'Put a space behind the quote, or write \\" for a quote in the argument.',
      };
  }
  return words;
}

function endOfWord(text: string, from: number): number {
  let at = from;
  while (at < text.length && !SPACES.includes(text[at]!)) at++;
  return at;
}

/** A quote behind an odd number of backslashes does not close; -1 if none closes. */
function closingQuote(text: string, from: number): number {
  let backslashes = 0;
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === '"' && backslashes % 2 === 0) return at;
    backslashes = text[at] === '\\' ? backslashes + 1 : 0;
  }
  return -1;
}

function plainWord(text: string, from: number, to: number): Word {
  return { text: text.slice(from, to), quoted: false, at: (index) => from + index };
}

function quotedWord(text: string, from: number, to: number): Word {
  const parts = text.slice(from + 1, to).split('\\"');
  return {
    text: parts.join('"'),
    quoted: true,
    at: (index) => {
      let left = index;
      for (const [number, part] of parts.entries()) {
        if (left <= part.length) return from + 1 + index + number;
        left -= part.length + 1;
      }
      return to;
    },
  };
}
