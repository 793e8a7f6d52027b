import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../../../../test/property-runs.ts';
import { Glob } from './glob.ts';

describe('a glob', () => {
  it.each([
    ['gpt-4o', ['gpt-4o'], ['gpt-4o-mini', 'GPT-4o', 'xgpt-4o', '']],
    ['gpt-*', ['gpt-', 'gpt-4.1'], ['gpt', 'a/gpt-4']],
    ['*-preview', ['o1-preview', '-preview', 'a-preview-preview'], ['o1-previews']],
    ['o?', ['o1', 'oä', 'o😀'], ['o', 'o12']],
    ['claude-[3-5]', ['claude-3', 'claude-5'], ['claude-6', 'claude-']],
    ['claude-[!3-5x]', ['claude-6', 'claude-!'], ['claude-3', 'claude-x']],
    ['[-a]', ['-', 'a'], ['b']],
    ['a.b', ['a.b'], ['acb']],
    ['*', ['', 'anything'], []],
    ['a*b*c', ['abc', 'a-b-b-c'], ['ab', 'acb']],
  ])('%s matches the whole name', (pattern, matches, others) => {
    const glob = new Glob(pattern);
    expect(matches.filter((each) => !glob.matches(each))).toEqual([]);
    expect(others.filter((each) => glob.matches(each))).toEqual([]);
  });

  it('matches what a regular expression of the same meaning does', () => {
    const piece = fc.constantFrom('*', '?', 'a', 'b', '[ab]', '[!a]');
    const check = fc.property(fc.array(piece, { maxLength: 8 }), fc.stringMatching(/^[abc]{0,10}$/), (pieces, name) => {
      const meaning: Record<string, string> = { '*': '.*', '?': '.', '[!a]': '[^a]' };
      const expected = new RegExp(`^${pieces.map((each) => meaning[each] ?? each).join('')}$`).test(name);
      expect(new Glob(pieces.join('')).matches(name)).toBe(expected);
    });
    fc.assert(check, propertyRuns(500));
  });

  it('takes steps by the lengths alone', () => {
    expect(new Glob('*a'.repeat(100)).matches(`${'a'.repeat(20_000)}b`)).toBe(false);
  });
});
