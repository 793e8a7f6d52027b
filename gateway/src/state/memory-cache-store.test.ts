import { expect, it } from 'vitest';
import { MemoryCacheStore } from './memory-cache-store.ts';

it('displaces no value of a client for the large ones of another', () => {
  const store = new MemoryCacheStore({ maxBytes: 100_000 });
  store.set('victim', new Uint8Array(1_000), 60, ['responses', 'quiet']);
  store.set('mark', new Uint8Array(10), 60, ['invalidations', 'quiet']);
  for (let i = 0; i < 100; i++) store.set(`flood ${i}`, new Uint8Array(20_000), 60, ['responses', 'busy']);
  expect([store.get('victim')?.length, store.get('mark')?.length]).toEqual([1_000, 10]);
  expect(store.get('flood 99')?.length).toBe(20_000);
  expect(store.get('flood 0')).toBeNull();
  expect(store.bytes).toBeLessThanOrEqual(100_000);
});
