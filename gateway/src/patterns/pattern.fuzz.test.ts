/** Random patterns and texts: each way of matching says what the host's engine says. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../test/property-runs.ts';
import { countedTest } from './counted-match.ts';
import { countedProgram } from './counted-program.ts';
import { compilePattern } from './pattern.ts';
import { readPattern } from './read-pattern.ts';
import { DEFAULT_STEPS, StepBudget, StepsExceeded } from './step-budget.ts';

const character = fc.constantFrom('a', 'b', 'c', 'é', '1', '_', ' ', '😀', '\\n', '\\u{1f600}');
const escaped = fc.constantFrom(
  ...['\\cJ', '\\x41', '\\u0041', '\\/', '\\-', '\\0', '\\t', '\\v', '\\.', '\\s', '\\W', '\\D', '\\='],
  ...[
    '[\\b]',
    '[\\w-]',
    '[a\\-c]',
    '[\\]]',
    '[^\\d\\n]',
    '[\\u{1f5ff}-\\u{1f601}]',
    '[é-ü]',
    '\\P{Lu}',
    '\\p{Script=Latin}',
  ],
);
const atom = fc.oneof(
  escaped,
  { weight: 4, arbitrary: character },
  fc.constantFrom(
    '.',
    '\\d',
    '\\w',
    '\\S',
    '[ab]',
    '[^b]',
    '[a-c1]',
    '[^\\s]',
    '[]',
    '[^]',
    '\\p{L}',
    '\\b',
    '\\B',
    '^',
    '$',
  ),
  fc.constantFrom('\\1', '\\2', '\\k<n>'),
);
const quantifier = fc.constantFrom(
  '*',
  '+',
  '?',
  '*?',
  '+?',
  '??',
  '{2}',
  '{0,2}',
  '{1,3}',
  '{2,}',
  '{0}',
  '{1,2}?',
  '{3,5}?',
);
// No modifiers: the host's engine has `a+((?i:()|)|a)*` match "A".
const open = fc.constantFrom('(', '(?:', '(?<n>', '(?=', '(?!', '(?<=', '(?<!');

const { pattern } = fc.letrec<{ pattern: string; part: string }>((tie) => ({
  pattern: fc
    .array(fc.array(tie('part'), { maxLength: 4 }), { minLength: 1, maxLength: 3 })
    .map((alternatives) => alternatives.map((parts) => parts.join('')).join('|')),
  part: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.tuple(atom, fc.option(quantifier, { nil: '' })).map(([one, many]) => one + many),
    fc
      .tuple(open, tie('pattern'), fc.option(quantifier, { nil: '' }))
      .map(([begin, inner, many]) => `${begin}${inner})${many}`),
  ),
}));
const text = fc.array(
  fc.constantFrom('a', 'b', 'c', 'A', 'é', '1', '_', ' ', '😀', '\n', '\r', '\u2028', '-', '/', '\b', '\ud83d'),
  { maxLength: 8 },
);

function asHost(source: string): RegExp | null {
  for (const flags of ['u', '']) {
    try {
      return new RegExp(source, flags);
    } catch {}
  }
  return null;
}

/**
 * As the language has it: a pattern with the flag u begins between characters. The host's own search begins in the middle
 * of one, too, where /\B/u finds something in 'a😀a'.
 */
function hostTest(host: RegExp, given: string): boolean {
  if (!host.unicode) return host.test(given);
  const sticky = new RegExp(host.source, 'uy');
  const characters = [...given];
  return [...characters, ''].some((_, i) => {
    sticky.lastIndex = characters.slice(0, i).join('').length;
    return sticky.test(given);
  });
}

/** The answer, or null where it took too many steps. */
function within<T>(run: (budget: StepBudget) => T): T | null {
  const budget = new StepBudget(DEFAULT_STEPS);
  budget.begin(0, 0);
  try {
    return run(budget);
  } catch (error) {
    if (error instanceof StepsExceeded) return null;
    throw error;
  }
}

describe('a pattern', () => {
  it('is read where the host reads it, and only there', () => {
    fc.assert(
      fc.property(pattern, (source) => {
        expect(readPattern(source) !== null, source).toBe(asHost(source) !== null);
      }),
      propertyRuns(2000),
    );
  });

  it('matches by counted steps what the host matches', () => {
    let compared = 0;
    fc.assert(
      fc.property(pattern, fc.array(text, { minLength: 1, maxLength: 6 }), (source, texts) => {
        const read = readPattern(source);
        const host = asHost(source);
        if (read === null || host === null) return;
        const program = countedProgram(read);
        for (const parts of texts) {
          const given = parts.join('');
          const found = within((budget) => countedTest(program, given, budget));
          if (found === null) continue;
          compared++;
          expect(found, `/${source}/${host.flags} ${JSON.stringify(given)}`).toBe(hostTest(host, given));
        }
      }),
      propertyRuns(5000),
    );
    expect(compared).toBeGreaterThan(3000);
  });

  it('matches by an automaton what the host matches', () => {
    // Half a character is none for RE2.
    const whole = text.filter((parts) => parts.join('').isWellFormed());
    let compared = 0;
    fc.assert(
      fc.property(pattern, fc.array(whole, { minLength: 1, maxLength: 6 }), (source, texts) => {
        const host = asHost(source);
        if (host === null || host.flags === '') return;
        const matched = within((budget) => compilePattern(source, budget));
        for (const parts of texts) {
          const given = parts.join('');
          const found = within((budget) => compilePattern(source, budget).test(given));
          if (matched === null || found === null) continue;
          compared++;
          expect(found, `/${source}/u ${JSON.stringify(given)}`).toBe(hostTest(host, given));
        }
      }),
      propertyRuns(1000),
    );
    expect(compared).toBeGreaterThan(500);
  });
});
