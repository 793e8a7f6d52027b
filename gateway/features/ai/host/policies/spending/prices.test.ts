import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../../../../test/property-runs.ts';
import { costOf, NANOS, Prices } from './prices.ts';

const price = (prompt: number) => ({ prompt, completion: prompt });
const chosen = (prices: object, provider: string, model: string) =>
  new Prices({ price_unit: 1, prices: { ...prices } }).of({ provider, model })?.model ?? null;

describe('the price of a model', () => {
  it.each([
    [['chat/gpt-4o*', 'chat/gpt-4o-mini*'], 'gpt-4o-mini-2024', 'chat/gpt-4o-mini*'],
    [['chat/gpt-*', 'chat/gpt-*-mini'], 'gpt-5-mini', 'chat/gpt-*-mini'],
    [['*/gpt-5', 'chat/*'], 'gpt-5', '*/gpt-5'],
    [['chat/*', 'chat/gpt-5'], 'gpt-5', 'chat/gpt-5'],
    [['chat/gpt-[0-9]*', 'chat/gpt-5*'], 'gpt-5', 'chat/gpt-5*'],
    [['chat/*-mini', 'chat/gpt-*'], 'gpt-5-mini', 'chat/*-mini'],
    [['chat/a*c', 'chat/ab*'], 'abc', 'chat/ab*'],
    [['chat/gpt-4'], 'gpt-5', null],
  ])('of %j for %s is %s', (keys, model, expected) => {
    for (const order of [keys, [...keys].reverse()]) {
      expect(chosen(Object.fromEntries(order.map((key, i) => [key, price(i)])), 'chat', model)).toBe(expected);
    }
  });

  it('is the same for all orders of the entries', () => {
    const part = fc.stringMatching(/^[ab*?]{1,4}$/);
    const keys = fc.uniqueArray(
      fc.tuple(part, part).map(([provider, model]) => `${provider}/${model}`),
      { minLength: 2, maxLength: 8 },
    );
    const name = fc.stringMatching(/^[ab]{1,4}$/);
    const shuffled = keys.chain((each) =>
      fc.tuple(fc.constant(each), fc.shuffledSubarray(each, { minLength: each.length })),
    );
    fc.assert(
      fc.property(shuffled, name, name, ([one, other], provider, model) => {
        const of = (list: readonly string[]) =>
          chosen(Object.fromEntries(list.map((key) => [key, price(1)])), provider, model);
        expect(of(one)).toBe(of(other));
      }),
      propertyRuns(300),
    );
  });
});

describe('prompt tokens', () => {
  const prices = (more: object) => new Prices({ price_unit: 1, prices: { 'a/*': { ...price(10), ...more } } });
  const cost = (more: object, spent: object) => {
    const of = prices(more).of({ provider: 'a', model: 'm' });
    return of && costOf(of, { prompt: 100, completion: 0, cached: 20, ...spent }) / NANOS;
  };

  it('are dearer where they are written to a cache', () => {
    const own = { cached: 1, cache_write: 12, cache_write_1h: 20 };
    expect(cost(own, {})).toBe(80 * 10 + 20);
    expect(cost(own, { written: 30 })).toBe(50 * 10 + 30 * 12 + 20);
    expect(cost(own, { written: 30, writtenLong: 10 })).toBe(50 * 10 + 20 * 12 + 10 * 20 + 20);
    expect(cost({ cached: 1, cache_write: 12 }, { written: 30, writtenLong: 10 })).toBe(50 * 10 + 30 * 12 + 20);
    expect(cost({ cached: 1 }, { written: 30, writtenLong: 10 })).toBe(80 * 10 + 20);
    // No more can be written than there is.
    expect(cost(own, { written: 500, writtenLong: 900 })).toBe(80 * 20 + 20);
    expect(prices(own).highest('m', 100, 0)).toBe(100 * 20 * NANOS);
  });
});
