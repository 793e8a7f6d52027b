/** Patterns of a config over what people and models say: in bounded steps (docs/decisions.md#patterns-bounded). */
import { patternKind } from '../../patterns/known-patterns.ts';
import { compilePattern, type Pattern } from '../../patterns/pattern.ts';
import { DEFAULT_STEPS, StepBudget, StepsExceeded } from '../../patterns/step-budget.ts';

/** The place of a pattern that matches, or why nobody knows. */
export type Finding = { readonly pattern: number } | 'steps';

interface Blocked {
  readonly pattern: Pattern;
  /** Its steps grow with the text; those of one that goes back do not, as each takes longer. */
  readonly isLinear: boolean;
}

export class BlockedPatterns {
  readonly #budget = new StepBudget(DEFAULT_STEPS);
  readonly #patterns: readonly Blocked[];

  /** Throws where one is none. */
  constructor(sources: readonly string[]) {
    this.#patterns = sources.map((source) => ({
      pattern: compilePattern(source, this.#budget),
      isLinear: patternKind(source).kind === 'linear',
    }));
  }

  get isEmpty(): boolean {
    return this.#patterns.length === 0;
  }

  /** Null where none matches. Yields between patterns. */
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

  /** Null where it takes too many steps. */
  #test({ pattern, isLinear }: Blocked, text: string): boolean | null {
    this.#budget.begin(0, isLinear ? text.length : 0);
    try {
      return pattern.test(text);
    } catch (error) {
      if (error instanceof StepsExceeded) return null;
      throw error;
    }
  }
}

/** A text as it stands, and as a model reads it: without what nobody sees, and letters as such, whatever their form. */
function readingsOf(text: string): readonly string[] {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what is ASCII reads in one way
  if (/^[\x00-\x7f]*$/.test(text)) return [text];
  // Half a character is none for patterns.
  const whole = text.toWellFormed();
  const read = whole.normalize('NFKC').replace(/\p{Cf}/gu, '');
  return read === whole ? [whole] : [whole, read];
}
