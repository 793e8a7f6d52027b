/** The scripts that state on a server runs, as commands of its connection. */
import type { Redis } from 'iovalkey';
import type { NonceVerdict } from './nonce-store.ts';
import { RENEW_BUDGET_SCRIPT, RESERVE_BUDGET_SCRIPT, SETTLE_BUDGET_SCRIPT } from './redis-budgets.ts';
import { DELETE_CACHED_SCRIPT, SET_CACHED_SCRIPT } from './redis-cache.ts';
import { BEGIN_SCRIPT, ENTER_SCRIPT } from './redis-nonces.ts';
import { TAKE_SCRIPT } from './redis-rate-limit.ts';
import { RECORD_SCRIPT, RELEASE_SCRIPT, RESERVE_SCRIPT, type ReserveReply } from './redis-reservations.ts';
import { END_SESSION_SCRIPT, OPEN_SESSION_SCRIPT, USE_SESSION_SCRIPT } from './redis-sessions.ts';

/** Four keys; id, window, lease, amount, quota; prefix of keys, owner, bucket, most buckets. */
type BudgetArguments = [
  ...[string, string, string, string],
  ...[id: string, windowMs: number, leaseMs: number, amount: number, quota: number],
  ...[base: string, owner: string, bucket: string, most: number],
];

/** The key of a reservation; prefix of keys, owner, key without it. */
type ReservedArguments = [key: string, base: string, owner: string, id: string];

export interface Scripted {
  gwTake(
    ...take: [
      ...[times: string, counts: string, quota: number, windowMs: number, id: string],
      ...[base: string, owner: string, bucket: string, most: number],
    ]
  ): Promise<[number, number, string, string]>;
  gwBegin(began: string): Promise<unknown>;
  gwEnter(
    began: string,
    nonces: string,
    own: string,
    nonce: string,
    created: number,
    keepSeconds: number,
  ): Promise<NonceVerdict>;
  gwReserve(
    ...reserve: [...ReservedArguments, token: string, mark: string, holdMs: number, most: number]
  ): Promise<ReserveReply>;
  gwRecord(...record: [...ReservedArguments, token: string, value: string, keepMs: number]): Promise<number>;
  gwRelease(...release: [...ReservedArguments, token: string]): Promise<unknown>;
  gwReserveBudget(...budget: BudgetArguments): Promise<[number, string, string, string]>;
  gwSettleBudget(...budget: BudgetArguments): Promise<number>;
  gwRenewBudget(...budget: BudgetArguments): Promise<number>;
  gwOpenSession(
    ...open: [base: string, id: string, lastsMs: number, owner: string, revision: string, most: number]
  ): Promise<number>;
  gwUseSession(base: string, id: string, lastsMs: number): Promise<string | null>;
  gwEndSession(base: string, id: string, lastsMs: number): Promise<number>;
  gwSetCached(
    ...set: [
      ...[key: string, base: string, id: string, owner: string, value: Buffer, lastsMs: number],
      ...[weight: number, most: number],
    ]
  ): Promise<number>;
  gwDeleteCached(key: string, base: string, id: string): Promise<number>;
}

const SCRIPTS: Readonly<Record<keyof Scripted, { readonly numberOfKeys: number; readonly lua: string }>> = {
  gwTake: { numberOfKeys: 2, lua: TAKE_SCRIPT },
  gwBegin: { numberOfKeys: 1, lua: BEGIN_SCRIPT },
  gwEnter: { numberOfKeys: 3, lua: ENTER_SCRIPT },
  gwReserve: { numberOfKeys: 1, lua: RESERVE_SCRIPT },
  gwRecord: { numberOfKeys: 1, lua: RECORD_SCRIPT },
  gwRelease: { numberOfKeys: 1, lua: RELEASE_SCRIPT },
  gwReserveBudget: { numberOfKeys: 4, lua: RESERVE_BUDGET_SCRIPT },
  gwSettleBudget: { numberOfKeys: 4, lua: SETTLE_BUDGET_SCRIPT },
  gwRenewBudget: { numberOfKeys: 4, lua: RENEW_BUDGET_SCRIPT },
  gwOpenSession: { numberOfKeys: 0, lua: OPEN_SESSION_SCRIPT },
  gwUseSession: { numberOfKeys: 0, lua: USE_SESSION_SCRIPT },
  gwEndSession: { numberOfKeys: 0, lua: END_SESSION_SCRIPT },
  gwSetCached: { numberOfKeys: 1, lua: SET_CACHED_SCRIPT },
  gwDeleteCached: { numberOfKeys: 1, lua: DELETE_CACHED_SCRIPT },
};

export function defineScripts(redis: Redis): Redis & Scripted {
  for (const [name, script] of Object.entries(SCRIPTS)) redis.defineCommand(name, script);
  // The commands that were just defined.
  return redis as Redis & Scripted;
}
