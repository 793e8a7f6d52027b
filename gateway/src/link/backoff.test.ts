import fc from 'fast-check';
import { expect, it } from 'vitest';
import { propertyRuns } from '../../../test/property-runs.ts';
import { Backoff } from './backoff.ts';

it('waits a random time of at most the first, then twice as long each time, never more than the most', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 5000 }),
      fc.integer({ min: 1, max: 60_000 }),
      fc.nat(100),
      (firstMs, mostMs, tries) => {
        const backoff = new Backoff({ firstMs, mostMs });
        for (let i = 0; i < tries; i++) {
          const ms = backoff.next();
          expect(ms).toBeGreaterThanOrEqual(0);
          expect(ms).toBeLessThanOrEqual(Math.min(mostMs, firstMs * 2 ** i));
        }
        backoff.reset();
        expect(backoff.next()).toBeLessThanOrEqual(firstMs);
      },
    ),
    propertyRuns(50),
  );
});
