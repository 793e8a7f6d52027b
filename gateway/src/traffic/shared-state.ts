/** The state that workers share: kept by their parent, asked for over the stream between them. */
import { NOBODY } from '../shares/owner-path.ts';
import type { MemoryState } from '../state/memory-state.ts';
import type { State } from '../state/state.ts';
import type { Channel } from './channel.ts';
import type { SharedState } from './messages.ts';

/** The parent's side of the shared state. */
export function stateMethods({
  rateLimits,
  cache,
  nonces,
  reservations,
  budgets,
  sessions,
}: MemoryState): Omit<SharedState, `${string}Connection${string}`> {
  return {
    takeRateLimit: ({ bucket, quota, windowSeconds, owner }) => rateLimits.take(bucket, quota, windowSeconds, owner),
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
export function channelState(channel: Channel<SharedState, Record<never, never>>): State {
  return {
    rateLimits: {
      take: (bucket, quota, windowSeconds, owner = NOBODY) =>
        channel.call('takeRateLimit', { bucket, quota, windowSeconds, owner }),
    },
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
    close: async () => {},
  };
}
