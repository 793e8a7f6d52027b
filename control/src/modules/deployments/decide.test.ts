import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../../test/property-runs.ts';
import { AWAY_MS, decide, type Progress } from './decide.ts';

const begun: Progress = {
  applied: 0,
  refused: 0,
  waiting: 0,
  away: 0,
  awayMs: 0,
  expired: false,
  threshold: 0.5,
  canRollBack: true,
  isFirst: false,
  reasons: [],
};
const wrongKey = [{ reason: 'signature', count: 2 }];

describe('a deployment', () => {
  const cases: readonly [what: string, progress: Partial<Progress>, status: string, reason?: string | null][] = [
    ['has succeeded where no data plane is connected', {}, 'succeeded', null],
    ['waits for those that have not answered', { applied: 3, waiting: 1 }, 'in_progress'],
    ['has succeeded when all serve it', { applied: 4 }, 'succeeded', null],
    ['waits for others where few have refused', { refused: 1, waiting: 3, reasons: wrongKey }, 'in_progress'],
    [
      'has failed where few have refused and the others serve it',
      { applied: 2, refused: 2, reasons: wrongKey },
      'failed',
      '2 of 4 data planes refused it: signature (2)',
    ],
    [
      'is rolled back as soon as too many have refused',
      { applied: 1, refused: 2, waiting: 0, away: 0, reasons: wrongKey },
      'rolled_back',
      '2 of 3 data planes refused it: signature (2)',
    ],
    ['waits for nobody then', { refused: 2, waiting: 1, reasons: wrongKey }, 'rolled_back'],
    ['is rolled back by one refusal where none may be', { applied: 9, refused: 1, threshold: 0 }, 'rolled_back'],
    ['is not rolled back where all may refuse', { refused: 4, threshold: 1 }, 'failed'],
    ['is not rolled back where that is switched off', { refused: 4, threshold: null }, 'failed'],
    ['that cannot go back waits for the others', { refused: 3, waiting: 1, canRollBack: false }, 'in_progress'],
    ['that cannot go back has failed', { refused: 4, canRollBack: false }, 'failed'],
    [
      'is withdrawn where it is the first, and all have refused',
      { refused: 2, away: 1, awayMs: AWAY_MS, canRollBack: false, isFirst: true, reasons: wrongKey },
      'failed',
      '2 of 3 data planes refused it: signature (2); nothing was deployed before, so nothing is deployed now',
    ],
    [
      'stays where it is the first, and some serve it',
      { applied: 1, refused: 2, canRollBack: false, isFirst: true, reasons: wrongKey },
      'failed',
      '2 of 3 data planes refused it: signature (2)',
    ],
    [
      'stays where all may refuse',
      { refused: 2, threshold: null, canRollBack: false, isFirst: true, reasons: wrongKey },
      'failed',
      '2 of 2 data planes refused it: signature (2)',
    ],
    [
      'has timed out where some have not answered in time',
      { applied: 1, waiting: 2, expired: true },
      'timed_out',
      '2 of 3 data planes did not answer in time',
    ],
    [
      'has failed where others have refused',
      { applied: 2, refused: 1, waiting: 1, expired: true, reasons: [{ reason: 'secrets', count: 1 }] },
      'failed',
      '1 of 4 data planes refused it: secrets (1); 1 did not answer in time',
    ],
    ['waits for one that may come back', { applied: 3, away: 1, awayMs: AWAY_MS - 1 }, 'in_progress'],
    [
      'waits no longer for one that does not',
      { applied: 3, away: 1, awayMs: AWAY_MS },
      'succeeded',
      '1 of 4 disconnected meanwhile',
    ],
    ['does so at the end of its time, too', { applied: 3, away: 1, expired: true }, 'succeeded'],
    ['has failed where nobody is left', { away: 2, awayMs: AWAY_MS }, 'failed'],
  ];
  it.each(cases)('%s', (_what, progress, status, reason) => {
    const decision = decide({ ...begun, ...progress });
    expect(decision.status).toBe(status);
    if (reason !== undefined) expect('reason' in decision && decision.reason).toBe(reason);
  });

  it('ends in its time, succeeds only where none refused and some serve it, and goes back only where it can', () => {
    const count = fc.nat(5);
    const progress = fc.record({
      applied: count,
      refused: count,
      waiting: count,
      away: count,
      awayMs: fc.nat(2 * AWAY_MS),
      expired: fc.boolean(),
      threshold: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
      canRollBack: fc.boolean(),
      isFirst: fc.boolean(),
      reasons: fc.constant([]),
    });
    fc.assert(
      fc.property(progress, (each) => {
        const { status } = decide(each);
        const targets = each.applied + each.refused + each.waiting + each.away;
        if (each.expired) expect(status).not.toBe('in_progress');
        if (status === 'succeeded') expect([each.refused, each.waiting]).toEqual([0, 0]);
        if (status === 'succeeded' && targets > 0) expect(each.applied).toBeGreaterThan(0);
        if (status === 'rolled_back') expect(each.canRollBack && each.refused > 0).toBe(true);
        if (status === 'timed_out') expect(each.expired && each.waiting > 0).toBe(true);
      }),
      propertyRuns(500),
    );
  });
});
