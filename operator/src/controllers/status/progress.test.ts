import { describe, expect, it } from 'vitest';
import type { ReasonName } from '../../api/reasons.ts';
import { eventTypeOf } from '../../api/reasons.ts';
import type { Condition } from '../../api/shared.ts';
import { isWaiting, stalledEvents, withProgress } from './progress.ts';

const NOW = new Date('2026-01-01T00:10:00Z');

function condition(type: string, status: Condition['status'], reason: ReasonName, secondsAgo = 0): Condition {
  const lastTransitionTime = new Date(NOW.getTime() - secondsAgo * 1000).toISOString();
  return { type, status, reason, message: `${type} ${reason}`, observedGeneration: 3, lastTransitionTime };
}

/** Ready as controllers make it: with the message of what does not hold. */
function notReady(cause: Condition): readonly Condition[] {
  const ready = condition('Ready', 'False', 'NotReady');
  return [cause, { ...ready, message: `${cause.type}: ${cause.message}` }];
}

const progress = (conditions: readonly Condition[], before?: readonly Condition[]) =>
  withProgress(conditions, before, NOW)
    .filter(({ type }) => type === 'Reconciling' || type === 'Stalled')
    .map(({ type, status, reason }) => `${type} ${status} ${reason}`);

describe('who has to act, as kstatus reads it', () => {
  it.each<[string, readonly Condition[], readonly string[]]>([
    ['nobody when it is Ready', [condition('Ready', 'True', 'Ready')], []],
    ['nobody when it is held', [condition('Ready', 'True', 'Pinned')], []],
    [
      'the operator in a rollout',
      notReady(condition('Programmed', 'False', 'RollingOut')),
      ['Reconciling True RollingOut'],
    ],
    [
      'the operator while pods start',
      notReady(condition('Programmed', 'False', 'NoReadyPods', 500)),
      ['Reconciling True NoReadyPods'],
    ],
    [
      'the user where it does not compile',
      notReady(condition('Compiled', 'False', 'CompileFailed')),
      ['Stalled True CompileFailed'],
    ],
    [
      'the user where it contradicts itself',
      notReady(condition('Accepted', 'False', 'InvalidSpec')),
      ['Stalled True InvalidSpec'],
    ],
    [
      'at first nobody where an ApiSpec may come',
      notReady(condition('Accepted', 'False', 'SpecNotFound', 5)),
      ['Reconciling True SpecNotFound'],
    ],
    [
      'the user where it has not come',
      notReady(condition('Accepted', 'False', 'SpecNotFound', 90)),
      ['Stalled True SpecNotFound'],
    ],
    [
      'the user after a failed rollout',
      notReady(condition('Programmed', 'False', 'RolloutFailed', 90)),
      ['Stalled True RolloutFailed'],
    ],
  ])('%s', (_, conditions, expected) => expect(progress(conditions)).toEqual(expected));

  it('neither stays once it does not hold, and the time is that of its beginning', () => {
    const first = withProgress(notReady(condition('Accepted', 'False', 'SpecNotFound', 90)), undefined, NOW);
    const later = withProgress(first, first, new Date(NOW.getTime() + 5000));
    expect(later).toEqual(first);
    expect(progress([condition('Ready', 'True', 'Ready'), ...first.filter(({ type }) => type === 'Stalled')])).toEqual(
      [],
    );
  });

  it('what may still come is looked at again', () => {
    const waiting = withProgress(notReady(condition('Accepted', 'False', 'SpecNotFound', 5)), undefined, NOW);
    const rolling = withProgress(notReady(condition('Programmed', 'False', 'RollingOut', 5)), undefined, NOW);
    expect([isWaiting(waiting), isWaiting(rolling), isWaiting(undefined)]).toEqual([true, false, false]);
  });

  it('what is missing is a warning once it has stayed away, and a fault at once', () => {
    expect([eventTypeOf('SpecNotFound'), eventTypeOf('CompileFailed')]).toEqual(['Normal', 'Warning']);
    const at = (seconds: number, reason: ReasonName = 'SpecNotFound') =>
      withProgress(notReady(condition('Accepted', 'False', reason, seconds)), undefined, NOW);
    const told = { type: 'Warning', reason: 'SpecNotFound', action: 'Stalled', note: 'Accepted SpecNotFound' };
    expect(stalledEvents(undefined, at(5))).toEqual([]);
    expect(stalledEvents(at(5), at(90))).toEqual([told]);
    expect(stalledEvents(at(90), at(95))).toEqual([]);
    // Told when it was found.
    expect(stalledEvents(undefined, at(5, 'InvalidSpec'))).toEqual([]);
  });
});
