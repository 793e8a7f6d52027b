import { describe, expect, it } from 'vitest';
import { PERIODS, periodAt } from './period.ts';
import { costOf, Prices } from './prices.ts';

describe('a period of the calendar', () => {
  it.each([
    ['hour', '2026-11-25T13:00:00Z', '2026-11-25T14:00:00Z'],
    ['day', '2026-11-25T00:00:00Z', '2026-11-26T00:00:00Z'],
    ['week', '2026-11-23T00:00:00Z', '2026-11-30T00:00:00Z'],
    ['month', '2026-11-01T00:00:00Z', '2026-12-01T00:00:00Z'],
    ['year', '2026-01-01T00:00:00Z', '2027-01-01T00:00:00Z'],
  ] as const)('%s', (name, start, end) => {
    const period = { start: Date.parse(start), end: Date.parse(end) };
    for (const at of [period.start, Date.parse('2026-11-25T13:25:04Z'), period.end - 1]) {
      expect(periodAt(name, at)).toEqual(period);
    }
    expect(periodAt(name, period.end).start).toBe(period.end);
  });

  it('follows another without a gap, over years', () => {
    for (const name of PERIODS) {
      let at = Date.parse('2023-12-28T00:00:00Z');
      for (let i = 0; i < 400; i++) {
        const { start, end } = periodAt(name, at);
        expect(start).toBeLessThanOrEqual(at);
        expect(periodAt(name, end - 1)).toEqual({ start, end });
        at = end;
      }
    }
  });
});

describe('a price', () => {
  const prices = new Prices({
    price_unit: 1000,
    prices: { 'provider_chat/gpt-4o': { prompt: 2.5, completion: 10, cached: 1 }, '*/*': { prompt: 1, completion: 1 } },
  });

  it('is that of the first entry that matches, in billionths of a dollar', () => {
    const price = prices.of({ provider: 'provider_chat', model: 'gpt-4o' });
    expect(price?.model).toBe('provider_chat/gpt-4o');
    expect(price && costOf(price, { prompt: 3, completion: 2, cached: 1 })).toBe(26_000_000);
    expect(prices.of({ provider: 'provider_local', model: 'gpt-4o' })?.model).toBe('*/*');
    expect(prices.highest('gpt-4o', 1, 1)).toBe(12_500_000);
    expect(prices.highest('other', 1, 1)).toBe(2_000_000);
  });

  it('is another one for audio', () => {
    const voice = new Prices({
      price_unit: 1000,
      prices: { '*/*': { prompt: 4, completion: 16, cached: 0.4, audio_prompt: 32, audio_completion: 64 } },
    });
    const price = voice.of({ provider: 'provider_chat', model: 'gpt-realtime' });
    const spent = { prompt: 100, completion: 50, cached: 60, promptAudio: 30, completionAudio: 40 };
    expect(price && costOf(price, spent)).toBe((10 * 4 + 30 * 32 + 60 * 0.4 + 10 * 16 + 40 * 64) * 1_000_000);
    expect(price && costOf(price, { ...spent, promptAudio: 70, completionAudio: 60 })).toBe(
      (40 * 32 + 60 * 0.4 + 50 * 64) * 1_000_000,
    );
    expect(voice.highest('gpt-realtime', 0, 1)).toBe(64_000_000);
  });
});
