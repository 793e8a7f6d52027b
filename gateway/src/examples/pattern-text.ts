/**
 * Makes a text that a pattern matches. The text of a look-ahead comes first, before or in place of the text that
 * follows; other look-around is ignored. The whole text is then tested.
 */
import type { AST } from '@eslint-community/regexpp';
import { type Ranges, rangesOf } from '../patterns/char-ranges.ts';
import { readPattern } from '../patterns/read-pattern.ts';
import type { ValueGenerator } from './generator.ts';
import type { Random } from './random.ts';

/** Characters of one text. */
const MOST_TEXT = 65_536;
/** Texts that are tried for a pattern with look-around. */
const TRIES = 16;

export interface Lengths {
  readonly least: number;
  readonly most: number;
}

/** Returns null if no such text has this length. Throws Unmakeable. */
export function patternText(source: string, { least, most }: Lengths, generator: ValueGenerator): string | null {
  generator.takeText(source.length);
  const read = readPattern(source);
  if (read === null) return null;
  const suits = LOOK_AROUND.test(source) ? (text: string) => generator.matches(source, text) : () => true;
  // Repetitions beyond the least of each quantifier: as few as make the text long enough.
  let tooFew = -1;
  let tooMany = MOST_TEXT;
  let tries = 0;
  for (let more = 0; more > tooFew && more < tooMany; ) {
    const writer = new Writer(generator.random, more);
    const text = writer.write(read.ast);
    generator.takeText(text.length);
    const length = [...text].length;
    if (length >= least && length <= most) {
      const found = led(writer.ahead, text).find((each) => [...each].length <= most && suits(each));
      if (found !== undefined) return found;
      if (++tries === TRIES) return null;
      // Another of the same length may do, or a longer one.
      if (tries % 2 === 1) continue;
    }
    if (length > most) tooMany = more;
    else tooFew = more;
    more = tooMany === MOST_TEXT ? 2 * more + 1 : Math.floor((tooFew + tooMany) / 2);
  }
  return null;
}

const LOOK_AROUND = /\(\?<?[=!]/;

/** Returns the text, also with the text of look-aheads in place of its beginning, or before it. */
function led(ahead: string, text: string): readonly string[] {
  return ahead === '' ? [text] : [text, ahead + text.slice(ahead.length), ahead + text];
}

class Writer {
  /** Text that look-aheads require, one after the other. */
  ahead = '';
  readonly #random: Random;
  #more: number;
  readonly #groups = new Map<AST.CapturingGroup, string>();
  #length = 0;

  constructor(random: Random, more: number) {
    this.#random = random;
    this.#more = more;
  }

  write(node: AST.Pattern | AST.Element): string {
    if (this.#length >= MOST_TEXT) return '';
    switch (node.type) {
      case 'Pattern':
      case 'Group':
        return this.#choose(node.alternatives);
      case 'CapturingGroup': {
        const text = this.#choose(node.alternatives);
        this.#groups.set(node, text);
        return text;
      }
      case 'Quantifier':
        return this.#repeat(node);
      case 'Backreference':
        return Array.isArray(node.resolved) ? '' : (this.#groups.get(node.resolved) ?? '');
      case 'Assertion':
        if (node.kind === 'lookahead' && !node.negate) this.#lookAhead(node.alternatives);
        return '';
      default:
        return this.#character(node);
    }
  }

  #choose(alternatives: readonly AST.Alternative[]): string {
    const elements = this.#random.pick(alternatives)?.elements ?? [];
    return elements.map((element) => this.write(element)).join('');
  }

  #lookAhead(alternatives: readonly AST.Alternative[]): void {
    const [length, more] = [this.#length, this.#more];
    this.#more = 0;
    this.ahead += this.#choose(alternatives);
    this.#length = length;
    this.#more = more;
  }

  #repeat({ min, max, element }: AST.Quantifier): string {
    const times = Math.min(max, min + this.#more, MOST_TEXT);
    let text = '';
    for (let i = 0; i < times && this.#length < MOST_TEXT; i++) text += this.write(element);
    return text;
  }

  #character(node: AST.Element): string {
    this.#length++;
    const ranges = rangesOf(node);
    if (ranges !== null) return this.#among(ranges);
    // Classes of Unicode's tables, which mostly ask for a letter or a digit.
    const source = node.raw.toLowerCase();
    return /^\\p\{(?:n|nd|decimal_number|gc=n)/.test(source) ? '1' : /^\\P/.test(node.raw) ? '-' : 'a';
  }

  /** Prefers letters and digits, then other readable characters, then the rest. */
  #among(ranges: Ranges): string {
    for (const wanted of READABLE) {
      const found = ranges.flatMap(([from, to]) => {
        const [low, high] = [Math.max(from, wanted[0]), Math.min(to, wanted[1])];
        return low <= high ? [[low, high] as const] : [];
      });
      const [low, high] = this.#random.pick(found) ?? [1, 0];
      if (low <= high) return String.fromCodePoint(low + this.#random.below(high - low + 1));
    }
    return '';
  }
}

/** Small letters, digits, capital letters, ASCII, all of Unicode. */
const READABLE: Ranges = [
  [0x61, 0x7a],
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x20, 0x7e],
  [0, 0x10ffff],
];
