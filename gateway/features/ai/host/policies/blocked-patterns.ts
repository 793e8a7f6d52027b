/** Patterns of a config, matched against prompts and answers: in bounded steps (docs/decisions.md#patterns-bounded). */
import {
  compilePattern,
  DEFAULT_STEPS,
  type Pattern,
  patternKind,
  StepBudget,
  StepsExceeded,
  type TimeLimit,
} from '../../../kit.ts';

/** The index of the matching pattern; `steps` if the search took too many steps. */
export type Finding = { readonly pattern: number } | 'steps';

/** Matching one pattern blocks everything else: at worst, off the engine's fast path, for a quarter of a second. */
const ONE_PATTERN: TimeLimit = { ms: 1_000, piece: 250_000_000 };

interface Blocked {
  readonly pattern: Pattern;
  /** Its steps grow with the text; those of a backtracking one do not, as each takes longer. */
  readonly isLinear: boolean;
}

export class BlockedPatterns {
  readonly #budget = new StepBudget(DEFAULT_STEPS);
  readonly #patterns: readonly Blocked[];

  /** Throws if a source is not a valid pattern. */
  constructor(sources: readonly string[]) {
    this.#patterns = sources.map((source) => ({
      pattern: compilePattern(source, this.#budget),
      isLinear: patternKind(source).kind === 'linear',
    }));
  }

  get isEmpty(): boolean {
    return this.#patterns.length === 0;
  }

  /** Returns null if no pattern matches. Yields between patterns. */
  *find(text: string): Generator<undefined, Finding | null> {
    const readings = readingsOf(text);
    for (const [i, blocked] of this.#patterns.entries()) {
      for (const reading of readings) {
        const matches = this.#test(blocked, reading);
        if (matches === null) return 'steps';
        if (matches) return { pattern: i };
        yield;
      }
    }
    return null;
  }

  /** Returns null if it takes too many steps. */
  #test({ pattern, isLinear }: Blocked, text: string): boolean | null {
    this.#budget.begin(0, isLinear ? text.length : 0, ONE_PATTERN);
    try {
      return pattern.test(text);
    } catch (error) {
      if (error instanceof StepsExceeded) return null;
      throw error;
    }
  }
}

/** Invisible characters: controls, ignorable ones, and those that only affect their neighbours. */
const UNSEEN = /[\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]|(?![\t\n\r])\p{Cc}/gu;
/** ASCII once more, in characters that are invisible but that models read. */
const TAGS = /[\u{e0020}-\u{e007e}]/gu;
const plainTag = (tag: string) => String.fromCharCode((tag.codePointAt(0) ?? 0) - 0xe0000);

/** Escapes of JSON within the text, such as in arguments of tools. */
const ESCAPE = /\\(?:[uU]([0-9A-Fa-f]{4})|(["\\/bfnrt]))/g;
/** The same in JSON within JSON, however often it is escaped. */
const NESTED_ESCAPE = /(?<!\\)\\+(?:[uU]([0-9A-Fa-f]{4})|(["/bfnrt]))/g;
const ESCAPED: ReadonlyMap<string, string> = new Map([
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
]);
const PLAIN = /^[\t\n\r\x20-\x7e]*$/;

/** Returns a text unchanged, as a model reads it, and with its escapes decoded. */
function readingsOf(text: string): readonly string[] {
  if (PLAIN.test(text) && text.search(ESCAPE) < 0) return [text];
  // Patterns match whole characters only, so lone surrogates are replaced.
  const whole = text.toWellFormed();
  const unescaped = [ESCAPE, NESTED_ESCAPE].map((form) => whole.replace(form, decode).toWellFormed());
  return [...new Set([whole, ...[whole, ...unescaped].flatMap(visibleText)])];
}

function decode(_: string, code: string | undefined, letter = ''): string {
  return code === undefined ? (ESCAPED.get(letter) ?? letter) : String.fromCharCode(Number.parseInt(code, 16));
}

/** Removes invisible characters, and normalises letters of other forms; tags count as letters, and as invisible. */
function visibleText(text: string): readonly string[] {
  return [text.replace(TAGS, plainTag), text].map((each) => each.normalize('NFKC').replace(UNSEEN, ''));
}
