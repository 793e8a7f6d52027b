/** Patterns of PCRE in the syntax of RE2 and Rust. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../../test/property-runs.ts';
import { PartFault } from './part-fault.ts';
import { translatePattern } from './patterns.ts';

describe('translations', () => {
  it.each([
    ['literals', 'a\\.b\\/c\\"\\!\\x41\\x{5c}\\x5B\\x0\\0\\012', 'a\\.b/c"!A\\\\\\[\\x00\\x00\\x0a'],
    ['braces that are no quantifiers', 'a{b{,3}}{1x', 'a\\{b\\{,3\\}\\}\\{1x'],
    ['control characters', '\\a\\e\\f\\n\\r\\t', '\\x07\\x1b\\x0c\\x0a\\x0d\\x09'],
    ['bytes', '\\xe2\\x{82}é', '\\xe2\\x82\\xc3\\xa9'],
    ['quantifiers', 'a*b+?c?d{2}e{2,}f{2,3}?', 'a*b+?c?d{2}e{2,}f{2,3}?'],
    ['groups', '(a|(?:b|))(?i)c(?i-s:d)(?P<n>e)(?<m>f)', '(a|(?:b|))(?i)c(?i-s:d)(e)(f)'],
    ['comments', 'a(?#b)c', 'ac'],
    ['assertions', '^\\Aa\\b\\B\\z$', '^\\Aa\\b\\B\\z$'],
    ['sets', '\\d\\w\\s\\S', '[0-9][0-9A-Z_a-z][\\x09-\\x0d ][\\x00-\\x08\\x0e-\\x1f!-\\xff]'],
    ['sets of PCRE only', '\\h\\v', '[\\x09 \\xa0][\\x0a-\\x0d\\x85]'],
    ['classes', '[a-cx-][^]a][\\]\\-\\\\][a-\\d]', '[\\-a-cx][^\\]a][\\-\\\\\\]][\\-0-9a]'],
    ['set operators of Rust, which are characters', '[[a&&~~b-]', '[\\&\\-\\[ab\\~]'],
    ['classes by name', '[[:alpha:][:^digit:]]', '[\\x00-/:-\\xff]'],
    ['escapes in classes', '[\\b\\x41\\x{42}\\101\\n]', '[\\x08\\x0aAB]'],
  ])('%s', (_, pattern, translation) => {
    expect(translatePattern(Buffer.from(pattern).toString('latin1'))).toBe(translation);
  });
});

describe('refusals', () => {
  it.each([
    ['a(?=b)', 1, 'a look-ahead'],
    ['(?!b)', 0, 'a look-ahead'],
    ['(?<=b)', 0, 'a look-behind'],
    ['(?<!b)', 0, 'a look-behind'],
    ['(?>b)', 0, 'an atomic group'],
    ['(?|b)', 0, 'a branch reset group'],
    ['(?(1)b)', 0, 'a conditional group'],
    ['(?R)', 0, 'a recursion'],
    ['(?1)', 0, 'a recursion'],
    ['(?P=n)', 0, 'a back reference'],
    ['(a)\\1', 3, 'a back reference'],
    ['(*ACCEPT)', 0, 'a control verb'],
    ['a++', 1, 'a possessive quantifier'],
    ['(?x)a', 0, 'does not begin a group that the engine knows'],
    ['(a', 0, 'the group is not closed'],
    ['a)', 1, 'the ) closes no group'],
    ['[a', 0, 'the class is not closed'],
    ['*a', 0, 'repeats nothing'],
    ['a|+', 2, 'repeats nothing'],
    ['a**', 2, 'repeats nothing'],
    ['^*', 1, 'repeats nothing'],
    ['a\\b?', 3, 'repeats nothing'],
    ['(?ii)a', 0, 'does not begin a group'],
    ['(?i-:a)', 0, 'does not begin a group'],
    ['a{3,2}', 1, 'wrong order'],
    ['a{1001}', 1, 'more than 1000 repetitions'],
    ['[b-a]', 1, 'wrong order'],
    ['[[:name:]]', 1, 'unknown class'],
    ['\\x{100}', 0, 'is not a byte'],
    ['a\\Z', 1, 'does not know "\\Z"'],
    ['\\Qa\\E', 0, 'does not know "\\Q"'],
    ['a\\', 1, 'ends with a backslash'],
    ['é+', 1, 'a quantifier follows a character of several bytes'],
    ['[é]', 1, 'the class holds a character of several bytes'],
    ['('.repeat(101), 100, 'more than 100 groups'],
  ])('%s', (pattern, offset, message) => {
    let fault: unknown;
    try {
      translatePattern(Buffer.from(pattern).toString('latin1'));
    } catch (error) {
      fault = error;
    }
    expect(fault).toBeInstanceOf(PartFault);
    expect(fault).toMatchObject({ offset, message: expect.stringContaining(message) });
  });
});

/** Parts that PCRE and JavaScript read alike; a colon behind a bracket would begin a class by name. */
const PARTS = ['a', 'b', 'B', '0', '_', ' ', '-', '.', '\\.', '\\d', '\\D', '\\w', '\\W', '\\x62', '\\xe9', '\\n'];
const CLASS_PARTS = ['a', 'a-c', '0-9', '\\d', '\\W', '\\x41-\\x44', '_', '\\-', '&', '~', '\\]', '\\n', '[', '\\b'];

const pattern = fc.letrec<{ pattern: string }>((tie) => ({
  pattern: fc
    .array(
      fc.tuple(
        fc.oneof(
          { depthSize: 'small' },
          fc.constantFrom(...PARTS),
          fc
            .tuple(fc.boolean(), fc.array(fc.constantFrom(...CLASS_PARTS), { minLength: 1, maxLength: 4 }))
            .map(([negated, parts]) => `[${negated ? '^' : ''}${parts.join('')}]`),
          tie('pattern').map((inside) => `(?:${inside})`),
          tie('pattern').map((inside) => `(${inside})`),
          fc.tuple(tie('pattern'), tie('pattern')).map(([a, b]) => `(?:${a}|${b})`),
        ),
        fc.constantFrom('', '', '', '*', '+?', '?', '{1,2}'),
      ),
      { maxLength: 4 },
    )
    .map((parts) => parts.map(([part, quantifier]) => part + quantifier).join('')),
})).pattern;

const subject = fc.string({ unit: fc.constantFrom(...'abBcCdZ09_ -.&~:]\n\b[\xe9\xff'), maxLength: 12 });

describe('a translation', () => {
  it('matches what the pattern matches, with the same groups', () => {
    fc.assert(
      fc.property(pattern, fc.boolean(), fc.array(subject, { maxLength: 8 }), (source, ignoreCase, subjects) => {
        const flags = ignoreCase ? 'si' : 's';
        const original = new RegExp(source, flags);
        const translation = new RegExp(translatePattern(source), flags);
        for (const each of subjects) expect(translation.exec(each)).toEqual(original.exec(each));
      }),
      propertyRuns(500),
    );
  });

  it('of any text is a pattern or a fault', () => {
    const tokens = [...'()[]{}|\\*+?^$.-:=!<>ai1x\xe9', '(?', '[[:alpha:]]', '\\x', '\\x{'];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...tokens), { maxLength: 20 }), (parts) => {
        const source = parts.join('');
        try {
          // JavaScript has no flags within a pattern, and no \A and \z.
          const text = translatePattern(source).replace(/\\.|\(\?[ims-]*\)/g, (each) =>
            /^\\[^Az]/.test(each) ? each : '',
          );
          new RegExp(text, 's');
        } catch (error) {
          expect(error).toBeInstanceOf(PartFault);
        }
      }),
      propertyRuns(2000),
    );
  });
});
