import { describe, expect, it } from 'vitest';
import { BoundedMap } from './bounded-map.ts';

describe('a bounded map', () => {
  it('drops what was set longest ago past its bound', () => {
    const map = new BoundedMap<number>(2);
    for (const [key, value] of [
      ['a', 1],
      ['b', 2],
      ['c', 3],
    ] as const)
      map.set(key, value);
    expect([map.get('a'), map.get('b'), map.get('c'), map.weight]).toEqual([undefined, 2, 3, 2]);
  });

  it('keeps what was used, not what was only looked at', () => {
    const map = new BoundedMap<number>(2);
    map.set('used', 1);
    map.set('looked at', 2);
    map.use('used');
    map.get('looked at');
    map.set('new', 3);
    expect([map.get('used'), map.get('looked at'), map.get('new')]).toEqual([1, undefined, 3]);
  });

  it('weighs what is replaced once, and nothing that is gone', () => {
    const map = new BoundedMap<string>(10);
    map.set('a', 'x', 4);
    map.set('a', 'y', 6);
    expect(map.weight).toBe(6);
    map.set('b', 'z', 9);
    expect([map.get('a'), map.get('b'), map.weight]).toEqual([undefined, 'z', 9]);
    map.delete('b');
    map.delete('b');
    expect(map.weight).toBe(0);
    map.set('c', 'w', 3);
    map.clear();
    expect([map.get('c'), map.weight]).toEqual([undefined, 0]);
  });

  it('keeps nothing that alone is heavier than its bound', () => {
    const map = new BoundedMap<string>(5);
    map.set('a', 'x');
    map.set('b', 'y', 6);
    expect([map.get('a'), map.get('b'), map.weight]).toEqual([undefined, undefined, 0]);
  });
});
