/** Tokens of a batch, which are counted when it has ended and is asked for (docs/decisions.md#ai-batch-tokens). */
import { hash, randomUUID } from 'node:crypto';
import { get, type Obj, plainNumber, type ReservationStore } from '../../../../kit.ts';
import { batchUsage, type Usage } from '../conversation/usage.ts';

/** When it ended, by its status. One that has failed has not begun. */
const ENDED: ReadonlyMap<unknown, string> = new Map([
  ['completed', 'completed_at'],
  ['expired', 'expired_at'],
  ['cancelled', 'cancelled_at'],
]);
const DAY = 86_400;
/** Seconds: after 30 days, providers have deleted a batch's answers. */
const COUNTED_FOR = 30 * DAY;

/**
 * Returns null if the batch has not ended, lacks a token count, or was counted before. `baseUrl`: base URL of the
 * batch's provider. Rejects with StateUnavailable.
 */
export async function countBatchOnce(batch: Obj, baseUrl: string, store: ReservationStore): Promise<Usage | null> {
  const endedAt = plainNumber(get(batch, ENDED.get(get(batch, 'status')) ?? ''));
  const usage = batchUsage(get(batch, 'usage'));
  if (typeof endedAt !== 'number' || usage === null) return null;
  if (endedAt + COUNTED_FOR < Date.now() / 1000) return null;
  const { state } = await store.reserve({
    key: `ai-batch|${hash('sha256', `${baseUrl} ${String(get(batch, 'id'))}`, 'base64url')}`,
    token: randomUUID(),
    mark: '',
    holdSeconds: COUNTED_FOR + DAY,
  });
  return state === 'reserved' ? usage : null;
}
