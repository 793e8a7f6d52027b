import { describe, expect, it } from 'vitest';
import { MemoryReservationStore } from './memory-reservation-store.ts';

describe('MemoryReservationStore', () => {
  const storeOf = () => {
    const clock = { ms: 0 };
    const store = new MemoryReservationStore({ maxBytes: 10_000, now: () => clock.ms });
    const reserve = (key: string, ...owner: readonly string[]) =>
      store.reserve({ key, token: 't', mark: 'm', holdSeconds: 60, owner }).state;
    const publish = (key: string, ...owner: readonly string[]) => {
      const state = reserve(key, ...owner);
      if (state === 'reserved') store.record({ key, token: 't', value: 'v', keepSeconds: 60 });
      return state;
    };
    return { clock, store, reserve, publish };
  };

  it('refuses keys of an owner above its share, and forgets none', () => {
    const { store, publish, clock } = storeOf();
    publish('victim', 'policy', 'quiet');
    const made = Array.from({ length: 100 }, (_, i) => publish(`flood ${i}`, 'policy', 'busy'));
    expect(new Set(made)).toEqual(new Set(['reserved', 'full']));
    expect(store.bytes).toBeLessThanOrEqual(10_000);
    expect([publish('victim', 'policy', 'quiet'), publish('flood 0', 'policy', 'busy')]).toEqual([
      'recorded',
      'recorded',
    ]);
    clock.ms += 60_000;
    expect(publish('flood 99', 'policy', 'busy')).toBe('reserved');
  });

  it('does nothing twice that had to make room for others', () => {
    const { publish, reserve, clock } = storeOf();
    for (let i = 0; i < 100; i++) publish(`flood ${i}`, 'policy', 'busy');
    expect(publish('newcomer', 'policy', 'new')).toBe('reserved');
    expect([reserve('flood 0', 'policy', 'busy'), reserve('newcomer', 'policy', 'new')]).toEqual([
      'forgotten',
      'recorded',
    ]);
    clock.ms += 60_000;
    expect(reserve('flood 0', 'policy', 'busy')).toBe('reserved');
  });

  it('keeps what is on its way, whoever comes', () => {
    const { reserve } = storeOf();
    for (let i = 0; i < 100; i++) reserve(`flood ${i}`, 'policy', 'busy');
    expect([reserve('flood 0', 'policy', 'busy'), reserve('newcomer', 'policy', 'new')]).toEqual(['held', 'full']);
  });
});
