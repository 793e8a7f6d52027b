import { describe, expect, it } from 'vitest';
import { MemoryReservationStore } from './memory-reservation-store.ts';

describe('MemoryReservationStore', () => {
  it('keeps no more than its bytes, and forgets the oldest first', () => {
    const store = new MemoryReservationStore({ maxBytes: 10_000 });
    const reserve = (key: string) => store.reserve({ key, token: 't', mark: 'm', holdSeconds: 60 }).state;
    for (let i = 0; i < 1_000; i++) expect(reserve(`key-${i}`)).toBe('reserved');
    expect(store.bytes).toBeLessThanOrEqual(10_000);
    expect([reserve('key-999'), reserve('key-0')]).toEqual(['held', 'reserved']);
  });
});
