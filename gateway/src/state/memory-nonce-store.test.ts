import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../test/property-runs.ts';
import { MemoryNonceStore } from './memory-nonce-store.ts';

const START = 1_000_000;

function storeAt(maxNonces?: number) {
  const clock = { seconds: START };
  const now = () => clock.seconds * 1000 + 500;
  const store = new MemoryNonceStore({ now, ...(maxNonces === undefined ? {} : { maxNonces }) });
  const enter = (credential: string, nonce: string, created = clock.seconds) =>
    store.enter({ credential, nonce, created, keepSeconds: 100 });
  return { clock, store, enter };
}

describe('nonces in the process', () => {
  it('are new once, for each credential', () => {
    const { enter } = storeAt();
    expect([enter('a', 'n'), enter('a', 'n'), enter('b', 'n'), enter('a', 'm')]).toEqual(['new', 'used', 'new', 'new']);
  });

  it('of signatures that are older than the store are forgotten: it cannot know', () => {
    const { clock, enter } = storeAt();
    expect(enter('a', 'n', START - 1)).toBe('forgotten');
    clock.seconds += 50;
    expect(enter('a', 'n', START - 1)).toBe('forgotten');
    expect(enter('a', 'n', START)).toBe('new');
  });

  it('of one credential push out its own, and are never accepted twice', () => {
    const { clock, store, enter } = storeAt(100);
    expect(enter('quiet', 'n')).toBe('new');
    for (let i = 0; i < 1_000; i++) {
      if (i % 20 === 0) clock.seconds++;
      expect(enter('loud', `n-${i}`)).toBe('new');
    }
    expect(store.size).toBeLessThanOrEqual(100);
    expect(enter('quiet', 'n', START)).toBe('used');
    expect(enter('loud', 'n-0', START + 1)).toBe('forgotten');
    expect(enter('loud', 'n-999')).toBe('used');
  });

  it('are dropped when their signatures hold no longer', () => {
    const { clock, store, enter } = storeAt();
    for (let i = 0; i < 50; i++) enter('a', `n-${i}`);
    clock.seconds += 101;
    enter('a', 'late');
    expect(store.size).toBe(1);
  });

  it('are new at most once while their signature could hold, whatever comes between', () => {
    const step = fc.record({
      credential: fc.constantFrom('a', 'b', 'c'),
      nonce: fc.integer({ min: 0, max: 15 }).map(String),
      age: fc.integer({ min: 0, max: 40 }),
      pause: fc.integer({ min: 0, max: 8 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 150 }), fc.integer({ min: 1, max: 30 }), (steps, max) => {
        const { clock, store, enter } = storeAt(max);
        const accepted = new Set<string>();
        for (const { credential, nonce, age, pause } of steps) {
          clock.seconds += pause;
          const created = clock.seconds - age;
          // A signature is its credential, nonce and time.
          const signature = `${credential} ${nonce} ${created}`;
          const verdict = enter(credential, nonce, created);
          if (verdict === 'new') expect(accepted.has(signature)).toBe(false);
          if (verdict === 'new') accepted.add(signature);
          expect(store.size).toBeLessThanOrEqual(max);
        }
      }),
      propertyRuns(300),
    );
  });
});
