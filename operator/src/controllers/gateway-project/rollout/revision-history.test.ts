import { describe, expect, it } from 'vitest';
import type { GatewayProjectStatus, Revision } from '../../../api/gateway-project.ts';
import type { RolloutStatus } from '../../../api/rollout.ts';
import { servedBefore, withHistory } from './revision-history.ts';

const NUMBERS = [5, 4, 3, 2, 1];
const revision = (number: number): Revision => ({
  revision: number,
  artifactHash: `sha256:${number}`,
  archive: String(number),
  createdAt: '',
});

type Change = { readonly rollout: Partial<RolloutStatus>; readonly served?: number; readonly pinned?: boolean };

/** The status after one change after another, a minute each. */
function after(changes: readonly Change[], first?: GatewayProjectStatus): GatewayProjectStatus {
  let status = first;
  changes.forEach(({ rollout, served, pinned = false }, index) => {
    const now = new Date(Date.UTC(2026, 0, 1, 0, index));
    const revisions = withHistory(NUMBERS.map(revision), status, { rollout, served, pinned }, now);
    status = { revisions, rollout, ...(served === undefined ? {} : { revision: served }) };
  });
  return status ?? {};
}

const good = (number: number, pinned = false): Change => ({
  rollout: { phase: 'Succeeded', revision: number },
  served: number,
  pinned,
});
const bad = (number: number, from: number, phase: 'Aborted' | 'Failed' = 'Aborted'): Change => ({
  rollout: { phase, revision: number, from, message: `revision ${number} failed: 5xx` },
  served: from,
});

describe('the revision that a rollback goes to', () => {
  it.each<[string, readonly Change[], boolean, number | undefined]>([
    ['is the one that was served before', [good(1), good(2)], false, 1],
    ['is never one that was aborted', [good(1), good(2), bad(3, 2), bad(4, 2), good(5)], false, 2],
    ['is never one whose pods failed', [good(1), bad(2, 1, 'Failed'), good(3)], false, 1],
    ['goes past one that failed after it was served', [good(1), good(2), good(3), bad(2, 3), good(3)], false, 1],
    ['is the later one in time where an older revision is served again', [good(1), good(2), good(1)], false, 2],
    ['is not the one that a person has just left', [good(1), good(2), good(3), good(2, true)], true, 1],
    ['is again the one before, once a rollback has ended', [good(1), good(2), good(1, true), good(2)], false, 1],
    ['is none where all others failed', [good(1), bad(2, 1)], false, undefined],
    ['is one that failed first and was served since', [good(1), bad(2, 1), good(2), good(3)], false, 2],
    ['is not known of revisions that were never served', [good(3)], false, undefined],
  ])('%s', (_, changes, rolledBack, expected) =>
    expect(servedBefore(after(changes), rolledBack)?.revision).toBe(expected),
  );

  it('is what is served by the others while a canary is under way', () => {
    const status = after([good(1), good(2)]);
    const canary = { ...status, revision: 3, rollout: { phase: 'Progressing' as const, revision: 3, from: 2 } };
    expect(servedBefore(canary, false)?.revision).toBe(2);
  });

  it('is known of the last rollout of an operator that recorded nothing', () => {
    const before: GatewayProjectStatus = {
      revisions: NUMBERS.map(revision),
      revision: 5,
      rollout: { phase: 'Succeeded', revision: 5, from: 2, startedAt: '2025-12-31T23:00:00Z' },
      failed: { revision: 4, artifactHash: 'sha256:4', message: 'its p99 is 900 ms', at: '2025-12-31T22:00:00Z' },
    };
    const status = after([{ rollout: before.rollout ?? {}, served: 5 }], before);
    expect(servedBefore(status, false)?.revision).toBe(2);
    expect(status.revisions?.find((each) => each.revision === 4)?.failed).toMatchObject({
      message: 'its p99 is 900 ms',
    });
  });
});

describe('what the status says of revisions', () => {
  it('keeps why one failed until all pods serve it', () => {
    const failed = after([good(1), bad(2, 1), good(3)]).revisions?.find((each) => each.revision === 2);
    expect(failed).toMatchObject({ failed: { message: 'revision 2 failed: 5xx' } });
    expect(failed?.servedAt).toBeUndefined();
    const mended = after([good(1), bad(2, 1), good(2)]).revisions?.find((each) => each.revision === 2);
    expect(mended?.failed).toBeUndefined();
    expect(mended?.servedAt).toBeDefined();
  });

  it('changes nothing from one look to the next', () => {
    const once = after([good(1), good(2)]);
    expect(after([good(2), good(2)], once).revisions).toEqual(once.revisions);
  });
});
