import { describe, expect, it } from 'vitest';
import { SharedMap } from './shared-map.ts';

describe('a map with shares', () => {
  it('displaces the oldest of who holds most, and none of who holds less', () => {
    const map = new SharedMap<number>({ most: 10 });
    map.set('victim', 1, ['quiet']);
    for (let i = 0; i < 100; i++) expect(map.set(`flood ${i}`, i, ['busy'])).toBe(true);
    expect(map.get('victim')).toBe(1);
    expect([map.size, map.get('flood 90'), map.get('flood 91')]).toEqual([10, undefined, 91]);
    expect(map.set('newcomer', 2, ['new'])).toBe(true);
    expect([map.get('victim'), map.get('newcomer'), map.get('flood 91')]).toEqual([1, 2, undefined]);
  });

  it('refuses more of an owner whose own is not spent, and forgets none of it', () => {
    const map = new SharedMap<number>({ most: 3, isSpent: (value) => value < 0 });
    for (const key of ['a', 'b', 'c']) expect(map.set(key, 1, ['busy'])).toBe(true);
    expect(map.set('d', 1, ['busy'])).toBe(false);
    expect([map.get('a'), map.get('d')]).toEqual([1, undefined]);
    expect(map.set('e', 1, ['other'])).toBe(true);
    expect(map.get('a')).toBeUndefined();
    map.set('b', -1, ['busy']);
    map.use('c');
    expect(map.set('f', 1, ['busy'])).toBe(true);
    expect(map.get('b')).toBeUndefined();
  });

  it('keeps what remains of a value that had to go for another owner', () => {
    const gone: string[] = [];
    const map = new SharedMap<string>({
      most: 8,
      isSpent: () => false,
      remains: (value) => (value === 'whole' ? { value: 'rest', weight: 1 } : null),
      gone: (key) => gone.push(key),
    });
    map.set('a', 'whole', ['busy'], 4);
    map.set('b', 'whole', ['busy'], 4);
    expect(map.set('c', 'whole', ['other'], 3)).toBe(true);
    expect([map.get('a'), map.get('b'), map.get('c'), map.weight]).toEqual(['rest', 'whole', 'whole', 8]);
    expect(gone).toEqual(['a']);
  });

  it('passes over what may not go, and grows a value in its own place', () => {
    const map = new SharedMap<string>({ most: 4, mayGo: (value) => value !== 'held' });
    map.set('a', 'held', ['busy']);
    map.set('b', 'free', ['busy']);
    map.set('c', 'free', ['busy'], 2);
    expect(map.set('d', 'free', ['other'])).toBe(true);
    expect([map.get('a'), map.get('b')]).toEqual(['held', undefined]);
    expect(map.set('a', 'held', ['busy'], 4)).toBe(false);
    expect(map.get('a')).toBe('held');
    expect(map.set('e', 'free', ['other'], 5)).toBe(false);
  });
});
