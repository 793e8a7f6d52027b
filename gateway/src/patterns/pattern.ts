/**
 * Patterns of schemas, each matched in bounded steps whatever it is and whatever the text
 * (docs/decisions.md#patterns-bounded).
 */
import type { AST } from '@eslint-community/regexpp';
import { RE2JS } from 're2js';
import { isEverything, type Ranges, rangesOf } from './char-ranges.ts';
import { countedTest } from './counted-match.ts';
import { countedProgram } from './counted-program.ts';
import { childrenOf, type ReadPattern, readPattern } from './read-pattern.ts';
import { MOST_INLINE_UNITS, type StepBudget } from './step-budget.ts';
import { classText, toRe2 } from './to-re2.ts';

export interface Pattern {
  /** Throws StepsExceeded if the budget does not suffice. */
  test(text: string): boolean;
  /** Returns its source: Ajv identifies patterns by this, and would otherwise take all of an artifact for the first. */
  toString(): string;
}

/** `linear`: by an automaton. `counted`: by a backtracking machine, with the construct that needs it, in words. */
export type PatternKind =
  | {
      readonly kind: 'linear';
      /** Characters of the longest text that is matched on the event loop; longer ones go to a helper process. */
      readonly mostCharacters: number;
    }
  | { readonly kind: 'counted'; readonly constructs: readonly string[] }
  | { readonly kind: 'unreadable' };

/** Units of a character and a state, when the engine leaves its fast path. */
const UNITS_A_STATE = 40;
/** Characters times states of an automaton that count as a step: those are far quicker than the other machine's. */
const STATES_A_STEP = 8;

/** Repetitions of one character that an automaton takes for no more than a check of length does. */
const FEW_REPEATS = 50;
/** Characters of a pattern: reading one takes memory by its length. */
const MOST_PATTERN = 100_000;

interface Automaton {
  /** States of the engine; 0 if it only looks at each character. */
  readonly states: number;
  test(text: string, budget: StepBudget): boolean;
}

type Test = Automaton['test'];

interface Compiled {
  readonly is: PatternKind;
  readonly test: Test | null;
}

export function patternKind(source: string): PatternKind {
  return compile(source).is;
}

/** Throws an Error if no dialect reads the pattern. */
export function compilePattern(source: string, budget: StepBudget): Pattern {
  const { test } = compile(source);
  if (test === null) throw new Error(`"${source.slice(0, 80)}" is not a regular expression`);
  return {
    test: (text) => test(text, budget),
    toString: () => source,
  };
}

/** Patterns as Ajv wants them (`code.regExp`), each read once. */
export function patternReader(budget: StepBudget) {
  const patterns = new Map<string, Pattern>();
  const read = (source: string): Pattern => {
    const pattern = patterns.get(source) ?? compilePattern(source, budget);
    patterns.set(source, pattern);
    return pattern;
  };
  // Ajv writes this text into standalone code, which is never made here.
  return Object.assign(read, { code: 'regExp' });
}

/**
 * Uses an automaton if possible: as ECMA-262 reads it with the flag `u`, as RE2 does, as ECMA-262 does without the
 * flag. RE2 is not used for constructs that it reads differently, such as `\k<name>`.
 */
function compile(source: string): Compiled {
  if (source.length > MOST_PATTERN) return { is: { kind: 'unreadable' }, test: null };
  const read = readPattern(source);
  const constructs = read === null ? [] : constructsOf(read);
  const automaton = constructs.length > 0 ? null : (equalOf(read, true) ?? re2Test(source) ?? equalOf(read, false));
  if (automaton !== null) {
    const mostCharacters = Math.floor(MOST_INLINE_UNITS / (Math.max(1, automaton.states) * UNITS_A_STATE));
    return { is: { kind: 'linear', mostCharacters }, test: automaton.test };
  }
  if (read === null) return { is: { kind: 'unreadable' }, test: null };
  const program = countedProgram(read);
  return {
    is: { kind: 'counted', constructs: constructs.length > 0 ? constructs : [`${BEYOND_RE2} ${shown(source)}`] },
    test: (text, budget) => countedTest(program, text, budget),
  };
}

function equalOf(read: ReadPattern | null, unicode: boolean): Automaton | null {
  return read?.unicode === unicode ? (lengthTest(read.ast) ?? re2Test(toRe2(read))) : null;
}

function re2Test(source: string | null): Automaton | null {
  if (source === null) return null;
  try {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(source));
    const states = compiled.programSize();
    const test: Test = (text, budget) => {
      budget.admit(text.length * states * UNITS_A_STATE);
      budget.take((text.length * states) / STATES_A_STEP);
      return compiled.test(text);
    };
    return { states, test };
  } catch {
    return null;
  }
}

/** `^[a-z]{1,4096}$`: how many characters, and that each is one of them. */
function lengthTest({ alternatives }: AST.Pattern): Automaton | null {
  const [start, middle, end, ...more] = alternatives.length === 1 ? (alternatives[0]?.elements ?? []) : [];
  if (start?.type !== 'Assertion' || start.kind !== 'start' || end?.type !== 'Assertion' || end.kind !== 'end')
    return null;
  if (middle?.type !== 'Quantifier' || more.length > 0) return null;
  const { min, max } = middle;
  if (min <= FEW_REPEATS && (max <= FEW_REPEATS || max === Number.POSITIVE_INFINITY)) return null;
  const ranges = rangesOf(middle.element);
  if (ranges === null) return null;
  const every = everyTest(ranges);
  const test: Test = (text, budget) => {
    budget.take(text.length);
    const length = charactersIn(text);
    return length >= min && length <= max && every(text, budget);
  };
  return { states: 0, test };
}

function everyTest(ranges: Ranges): Test {
  if (isEverything(ranges)) return () => true;
  return re2Test(`^${classText(ranges)}*$`)?.test ?? (() => false);
}

function charactersIn(text: string): number {
  let pairs = 0;
  for (let i = 0; i < text.length - 1; i++) if ((text.codePointAt(i) as number) > 0xffff) pairs++;
  return text.length - pairs;
}

const BEYOND_RE2 = 'what RE2 does not know, or only at too great a size,';

/** Returns the constructs that an automaton cannot match. */
function constructsOf({ ast }: ReadPattern): readonly string[] {
  const found = new Set<string>();
  let level: readonly AST.Node[] = [ast];
  while (level.length > 0) {
    for (const node of level) {
      if (node.type === 'Backreference') found.add(`the back-reference ${node.raw}`);
      if (node.type === 'Assertion' && 'alternatives' in node) {
        found.add(
          `the ${node.negate ? 'negative ' : ''}look-${node.kind === 'lookahead' ? 'ahead' : 'behind'} ${shown(node.raw)}`,
        );
      }
    }
    level = level.flatMap(childrenOf);
  }
  return [...found];
}

const shown = (raw: string) => (raw.length > 40 ? `${raw.slice(0, 39)}…` : raw);
