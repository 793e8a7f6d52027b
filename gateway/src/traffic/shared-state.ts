/** The state that workers share: kept by their parent, asked for over the stream between them. */
import { NOBODY } from '../shares/owner-path.ts';
import { LeasingRateLimitStore } from '../state/leasing-rate-limit-store.ts';
import type { MemoryState } from '../state/memory-state.ts';
import type { WorkerLeases } from '../state/quota-leases.ts';
import type { State } from '../state/state.ts';
import type { Channel } from './channel.ts';
import type { LeaseRecalls, SharedState } from './messages.ts';

/** The parent's side of the shared state, for one worker. */
export function stateMethods(
  { cache, nonces, reservations, budgets, sessions }: Omit<MemoryState, 'rateLimits'>,
  quotas: WorkerLeases,
): Omit<SharedState, `${string}Connection${string}`> {
  return {
    takeRateLimit: (request) => quotas.take(request),
    settleLeases: (settled) => quotas.settle(settled),
    enterNonce: (nonce) => nonces.enter(nonce),
    reserve: (request) => reservations.reserve(request),
    recordReserved: (request) => reservations.record(request),
    releaseReserved: ({ key, token }) => reservations.release(key, token),
    reserveBudget: (reservation) => budgets.reserve(reservation),
    settleBudget: (settlement) => budgets.settle(settlement),
    renewBudget: (renewal) => budgets.renew(renewal),
    openSession: (session) => sessions.open(session),
    useSession: (id) => sessions.use(id),
    endSession: (id) => sessions.end(id),
    getCached(key) {
      const value = cache.get(key);
      return value === null ? null : Buffer.from(value).toString('base64');
    },
    setCached: ({ key, value, ttlSeconds, owner }) => cache.set(key, Buffer.from(value, 'base64'), ttlSeconds, owner),
    deleteCached: (key) => cache.delete(key),
  };
}

/** The same state, as a worker has it. */
export function channelState(channel: Channel<SharedState, LeaseRecalls>, rateLimits: LeasingRateLimitStore): State {
  return {
    rateLimits,
    nonces: { enter: (nonce) => channel.call('enterNonce', nonce) },
    reservations: {
      reserve: (request) => channel.call('reserve', request),
      record: (request) => channel.call('recordReserved', request),
      release: (key, token) => channel.call('releaseReserved', { key, token }),
    },
    budgets: {
      reserve: (reservation) => channel.call('reserveBudget', reservation),
      settle: (settlement) => channel.call('settleBudget', settlement),
      renew: (renewal) => channel.call('renewBudget', renewal),
    },
    sessions: {
      open: (session) => channel.call('openSession', session),
      use: (id) => channel.call('useSession', id),
      end: (id) => channel.call('endSession', id),
    },
    cache: {
      async get(key) {
        const value = await channel.call('getCached', key);
        return value === null ? null : Buffer.from(value, 'base64');
      },
      set: (key, value, ttlSeconds, owner = NOBODY) =>
        channel.call('setCached', { key, value: Buffer.from(value).toString('base64'), ttlSeconds, owner }),
      delete: (key) => channel.call('deleteCached', key),
    },
    close: async () => rateLimits.close(),
  };
}

/** Quotas of a worker, which asks its parent over the channel. */
export function leasingStore(
  channel: () => Channel<SharedState, LeaseRecalls>,
  workers: number,
): LeasingRateLimitStore {
  return new LeasingRateLimitStore({
    workers,
    parent: {
      takeRateLimit: (request) => channel().call('takeRateLimit', request),
      // If the parent has gone, the count is pointless.
      settleLeases: (settled) =>
        void channel()
          .call('settleLeases', settled)
          .catch(() => {}),
    },
  });
}
