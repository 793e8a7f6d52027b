/**
 * Translates patterns of PCRE, as ModSecurity compiles them (bytes, dot matches line ends), into the syntax of RE2 and of
 * the Rust crate `regex` with `unicode` off and `dot_matches_new_line` on. The engine has `multi_line` on, too, so that ^
 * and $ match beside line ends, as in ModSecurity 3 and Coraza. Both match in time linear in the text, so that what they
 * have no syntax for is refused: look-around, back references, atomic groups.
 */
import { literal } from './byte-set.ts';
import { quoted } from './diagnostics.ts';
import { MAX_GROUP_DEPTH } from './limits.ts';
import { PartFault } from './part-fault.ts';
import { matchAt, REWRITE, readClass, readEscape, UNBOUNDED } from './pattern-parts.ts';

/** RE2 refuses more repetitions. */
const MAX_REPETITIONS = 1000;

/** Throws PartFault for what has no translation. `prefix`: characters at the start that are not in the file. */
export function translatePattern(pattern: string, prefix = 0): string {
  try {
    return new Translation(pattern).translate();
  } catch (error) {
    if (error instanceof PartFault) throw new PartFault(Math.max(0, error.offset - prefix), error.message, error.hint);
    throw error;
  }
}

const OPENINGS: readonly (readonly [opening: string, construct: string])[] = [
  ['(?=', 'a look-ahead'],
  ['(?!', 'a look-ahead'],
  ['(?<=', 'a look-behind'],
  ['(?<!', 'a look-behind'],
  ['(?>', 'an atomic group'],
  ['(?|', 'a branch reset group'],
  ['(?(', 'a conditional group'],
  ['(?R', 'a recursion'],
  ['(?&', 'a recursion'],
  ['(?P>', 'a recursion'],
  ['(?P=', 'a back reference'],
  ['(*', 'a control verb'],
];

const FLAGS = /\(\?([a-zA-Z]*)(?:-([a-zA-Z]+))?([:)])/y;
const NAMED_GROUP = /\(\?(?:P?<\w+>|'\w+')/y;
const COMMENT = /\(\?#[^)]*\)/y;
const RECURSION = /\(\?[+-]?\d/y;
const QUANTIFIER = /[*+?]|\{(\d+)(?:,(\d*))?\}/y;

class Translation {
  readonly #source: string;
  readonly #output: string[] = [];
  readonly #open: number[] = [];
  #at = 0;
  /** Whether a quantifier may follow. */
  #afterAtom = false;

  constructor(source: string) {
    this.#source = source;
  }

  translate(): string {
    while (this.#at < this.#source.length) this.#step();
    const open = this.#open.at(-1);
    if (open !== undefined) throw new PartFault(open, 'the group is not closed', 'Write ), or \\( for the character.');
    return this.#output.join('');
  }

  #step(): void {
    const character = this.#source[this.#at]!;
    if (character === '(') this.#group();
    else if (character === ')') this.#close();
    else if (character === '[') this.#class();
    else if (character === '\\') this.#escape();
    else if (character === '|') this.#put('|', 1, false);
    else if ('.^$'.includes(character)) this.#put(character, 1, character === '.');
    else if (!this.#quantifier()) this.#literal(character);
  }

  #put(output: string, length: number, afterAtom: boolean): void {
    this.#output.push(output);
    this.#at += length;
    this.#afterAtom = afterAtom;
  }

  #literal(character: string): void {
    const next = this.#source[this.#at + 1] ?? '';
    if (character >= '\x80' && '*+?{'.includes(next) && next !== '')
      throw new PartFault(
        this.#at,
        'a quantifier follows a character of several bytes, of which it would repeat the last',
        'Put the character into a group, as in (?:é)+.',
      );
    this.#put(literal(character), 1, true);
  }

  #group(): void {
    const opening = OPENINGS.find(([text]) => this.#source.startsWith(text, this.#at));
    if (opening !== undefined && !this.#isNamed())
      throw new PartFault(this.#at, `the pattern has ${opening[1]}, ${UNBOUNDED}`, REWRITE);
    if (matchAt(RECURSION, this.#source, this.#at) !== null)
      throw new PartFault(this.#at, `the pattern has a recursion, ${UNBOUNDED}`, REWRITE);
    const comment = matchAt(COMMENT, this.#source, this.#at);
    if (comment !== null) {
      this.#at += comment[0].length;
      return;
    }
    const named = matchAt(NAMED_GROUP, this.#source, this.#at);
    if (named !== null) return this.#enter('(', named[0].length);
    if (!this.#source.startsWith('(?', this.#at)) return this.#enter('(', 1);
    this.#flags();
  }

  #isNamed(): boolean {
    return matchAt(NAMED_GROUP, this.#source, this.#at) !== null;
  }

  #flags(): void {
    const match = matchAt(FLAGS, this.#source, this.#at);
    const letters = match === null ? '?' : `${match[1]}${match[2] ?? ''}`;
    const isKnown = /^[ims]*$/.test(letters) && new Set(letters).size === letters.length;
    if (match === null || !isKnown || match[0] === '(?)')
      throw new PartFault(
        this.#at,
        `${quoted(this.#source.slice(this.#at, this.#at + 8))} does not begin a group that the engine knows`,
        'Write ( or (?: or a group with flags i, m and s, as in (?i:…).',
      );
    if (match[3] === ':') this.#enter(match[0], match[0].length);
    else this.#put(match[0], match[0].length, false);
  }

  #enter(output: string, length: number): void {
    if (this.#open.length >= MAX_GROUP_DEPTH)
      throw new PartFault(this.#at, `more than ${MAX_GROUP_DEPTH} groups inside each other`, 'Simplify the pattern.');
    this.#open.push(this.#at);
    this.#put(output, length, false);
  }

  #close(): void {
    if (this.#open.pop() === undefined)
      throw new PartFault(this.#at, 'the ) closes no group', 'Remove it, or write \\) for the character.');
    this.#put(')', 1, true);
  }

  /** Returns false if no quantifier stands here. */
  #quantifier(): boolean {
    const match = matchAt(QUANTIFIER, this.#source, this.#at);
    if (match === null) return false;
    const start = this.#at;
    if (!this.#afterAtom)
      throw new PartFault(
        start,
        `the quantifier ${quoted(match[0])} repeats nothing`,
        'Write a backslash before it, or group what it repeats.',
      );
    const [quantifier, least, most] = match;
    if (Number(least ?? 0) > MAX_REPETITIONS || Number(most ?? 0) > MAX_REPETITIONS)
      throw new PartFault(start, `more than ${MAX_REPETITIONS} repetitions`, 'Lower the number, or use + or *.');
    if (most && Number(most) < Number(least))
      throw new PartFault(start, `${quantifier} has its numbers in the wrong order`, 'Write the smaller number first.');
    this.#put(quantifier, quantifier.length, false);
    const mode = this.#source[this.#at];
    if (mode === '+')
      throw new PartFault(
        start,
        `the pattern has a possessive quantifier, ${UNBOUNDED}`,
        `Remove the second +: the engine does not backtrack.`,
      );
    if (mode === '?') this.#put('?', 1, false);
    return true;
  }

  #escape(): void {
    const { byte, set, assertion, length } = readEscape(this.#source, this.#at, 'outside');
    if (assertion !== undefined) this.#put(assertion, length, false);
    else if (set !== undefined) this.#put(set.print(false), length, true);
    else this.#put(literal(String.fromCharCode(byte!)), length, true);
  }

  #class(): void {
    const { text, end } = readClass(this.#source, this.#at);
    this.#put(text, end - this.#at, true);
  }
}
