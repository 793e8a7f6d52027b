import { describe, expect, it } from 'vitest';
import { compilePattern, patternKind } from './pattern.ts';
import { DEFAULT_STEPS, StepBudget, StepsExceeded } from './step-budget.ts';

function budget(bytes = 0, most = DEFAULT_STEPS): StepBudget {
  const steps = new StepBudget(most);
  steps.begin(0, bytes);
  return steps;
}

const test = (source: string, text: string) => compilePattern(source, budget(text.length)).test(text);

describe('patterns that an automaton matches', () => {
  it.each([
    ['what RE2 takes', '^[a-z]+$', ['abc'], ['', 'ABC']],
    ['what is valid without the flag u alone', '^[\\=\\+]\\-$', ['=-', '+-'], ['\\-']],
    [
      'a repetition past 1,000',
      '^arn:([a-z0-9-]+:?)+[/]{0,1024}$',
      ['arn:a:b', `arn:a${'/'.repeat(1024)}`],
      [`arn:a${'/'.repeat(1025)}`],
    ],
    ['an exact one', '^(?:ab){1500}$', ['ab'.repeat(1500)], ['ab'.repeat(1499), 'ab'.repeat(1501)]],
    ['an open one', '^x{1001,}$', ['x'.repeat(1001), 'x'.repeat(5000)], ['x'.repeat(1000)]],
    ['nested ones', '^(?:[a-z]{1,63}\\.){1,40}$', ['ab.c.', `${'a'.repeat(63)}.`], ['ab', `${'a'.repeat(64)}.`]],
    ['a check of length', '^[a-z]{1,65536}$', ['a', 'a'.repeat(65_536)], ['', 'a'.repeat(65_537), 'a1']],
    ['a check of length alone', '^[\\s\\S]{2,4096}$', ['😀\n', 'ab'], ['😀', 'a'.repeat(4097)]],
    ['a choice of characters', '^(?:.|\\n){1,50000}$', ['a\nb'], ['']],
    ['a shorter one', '^[a-z]{0,500}$', ['', 'a'.repeat(500)], ['a'.repeat(501), '1']],
    ['a class of nothing', '^a[]?$', ['a'], ['ab']],
  ])('%s', (_, source, yes, no) => {
    expect(patternKind(source)).toMatchObject({ kind: 'linear' });
    for (const text of yes) expect(test(source, text), text.slice(0, 20)).toBe(true);
    for (const text of no) expect(test(source, text), text.slice(0, 20)).toBe(false);
  });
});

describe('patterns that are matched in counted steps', () => {
  it.each([
    [
      '^(?=.*[A-Z])(?=.*\\d).{8,}$',
      ['the look-ahead (?=.*[A-Z])', 'the look-ahead (?=.*\\d)'],
      ['Secret12'],
      ['secret12', 'S1'],
    ],
    ['^(?!admin$)[a-z]+$', ['the negative look-ahead (?!admin$)'], ['adm', 'admins'], ['admin']],
    ['(?<=€)\\d+', ['the look-behind (?<=€)'], ['€5'], ['$5']],
    ['^(a+)-\\1$', ['the back-reference \\1'], ['aa-aa'], ['aa-a']],
    ['^(?<q>[\'"]).*\\k<q>$', ['the back-reference \\k<q>'], ['"a"'], ['"a\'']],
    ['^(?=.)(?i:a|é)b$', ['the look-ahead (?=.)'], ['Ab', 'Éb'], ['AB']],
    ['^(?=.)(?m:a$)\\n(?s:.)b$', ['the look-ahead (?=.)'], ['a\n\nb'], ['a\nb']],
    [
      '^(?:(?:a{0,100}b){0,100}c){0,100}$',
      ['what RE2 does not know, or only at too great a size, ^(?:(?:a{0,100}b){0,100}c){0,100}$'],
      ['abc', ''],
      ['ab'],
    ],
  ])('%s', (source, constructs, yes, no) => {
    expect(patternKind(source)).toEqual({ kind: 'counted', constructs });
    for (const text of yes) expect(test(source, text), text).toBe(true);
    for (const text of no) expect(test(source, text), text).toBe(false);
  });

  it.each([
    ['^(?=(a+)+$)', `${'a'.repeat(60)}!`],
    ['^(?!(?:a|aa)+$)', `${'a'.repeat(100)}!`],
    ['(x+x+)+\\1y', 'x'.repeat(60)],
    ['^(?=((a*)*)*b)', 'a'.repeat(40)],
  ])('%s ends where its steps do', (source, text) => {
    const steps = budget(text.length);
    expect(() => compilePattern(source, steps).test(text)).toThrow(StepsExceeded);
    // A look at the budget comes once in 1,024 steps.
    expect(steps.used).toBeLessThan(DEFAULT_STEPS + 100 * text.length + 4096);
  });

  it('of a long text take memory as its length does', () => {
    const text = `${'ab'.repeat(200_000)}`;
    expect(test('^(?:a|b)*(?!.)$', text)).toBe(true);
  });
});

describe('an automaton', () => {
  it('of many states takes steps as well', () => {
    const source = '^(?:[a-z]{0,90}[0-9]?){0,90}$';
    const text = 'a'.repeat(100_000);
    expect(patternKind(source)).toMatchObject({ kind: 'linear' });
    expect(() => compilePattern(source, budget(0)).test(text)).toThrow(StepsExceeded);
  });
});

describe('what no dialect reads', () => {
  it.each([
    'a'.repeat(100_001),
    '(',
    '[',
    'a{2,1}',
    '(?<n>a)(?<n>b)',
    '\\p{Nothing}[',
    `${'('.repeat(5000)}${')'.repeat(5000)}\\1`,
  ])('%s', (source) => {
    expect(patternKind(source)).toEqual({ kind: 'unreadable' });
    expect(() => compilePattern(source, budget())).toThrow('is not a regular expression');
  });
});
