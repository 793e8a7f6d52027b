/** One suite over the three stores of shared state: in the process, between workers, in Redis. */
import { duplexPair } from 'node:stream';
import { Redis } from 'iovalkey';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MemoryState } from '../../gateway/src/state/memory-state.ts';
import { QuotaLeases } from '../../gateway/src/state/quota-leases.ts';
import { RedisState } from '../../gateway/src/state/redis-state.ts';
import type { State } from '../../gateway/src/state/state.ts';
import { Channel, linePort } from '../../gateway/src/traffic/channel.ts';
import type { LeaseRecalls, SharedState } from '../../gateway/src/traffic/messages.ts';
import { channelState, leasingStore, stateMethods } from '../../gateway/src/traffic/shared-state.ts';

const { REDIS_URL } = process.env;

const stores: readonly (readonly [name: string, open: () => Promise<State>])[] = [
  ['in the process', async () => new MemoryState()],
  ['between workers', openBetweenWorkers],
  [
    'in Redis (needs REDIS_URL)',
    () =>
      RedisState.open({
        url: REDIS_URL ?? '',
        prefix: 'gw',
        timeoutMs: 5_000,
        away: (reason) => expect.fail(reason),
        back: () => {},
      }),
  ],
];

async function openBetweenWorkers(): Promise<State> {
  const [worker, parent] = duplexPair();
  const memory = new MemoryState();
  const quotas = new QuotaLeases({ store: memory.rateLimits, workers: 2 });
  const shared = stateMethods(memory, quotas.of({ recallLease: (id) => ofParent.call('recallLease', id) }));
  const slots = { takeConnection: () => true, releaseConnections: () => {} };
  const ofParent = new Channel<LeaseRecalls, SharedState>(linePort(parent), { ...shared, ...slots });
  const rateLimits = leasingStore(() => ofWorker, 2);
  const ofWorker = new Channel<SharedState, LeaseRecalls>(linePort(worker), {
    recallLease: (id) => rateLimits.recallLease(id),
  });
  return channelState(ofWorker, rateLimits);
}

for (const [name, open] of stores) {
  describe.skipIf(name.includes('Redis') && REDIS_URL === undefined)(`state ${name}`, () => suite(open));
}

function suite(open: () => Promise<State>): void {
  let state: State;
  const unique = () => crypto.randomUUID();
  const passed = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  beforeAll(async () => {
    state = await open();
  });
  afterAll(() => state.close());

  it('keeps sessions until they end', async () => {
    const [id, other] = [unique(), unique()];
    await state.sessions.open({ id, owner: ['192.0.2.1'], revision: '2025-11-25' });
    expect([await state.sessions.use(id), await state.sessions.use(other)]).toEqual(['2025-11-25', null]);
    expect([await state.sessions.end(id), await state.sessions.end(id)]).toEqual([true, false]);
    expect(await state.sessions.use(id)).toBeNull();
  });

  it('keeps sessions, values and reservations by owner', async () => {
    const [owner, other] = [
      ['policy', unique()],
      ['policy', unique()],
    ];
    const [id, key] = [unique(), unique()];
    await state.sessions.open({ id, owner: ['2001:db8:1::/48', '2001:db8:1:2::/64'], revision: '2025-11-25' });
    expect(await state.sessions.use(id)).toBe('2025-11-25');
    await state.cache.set(key, Buffer.from('first'), 60, owner);
    await state.cache.set(key, Buffer.from('\0second\0'), 60, other);
    expect(Buffer.from((await state.cache.get(key)) ?? []).toString()).toBe('\0second\0');
    const request = { key, token: 't', mark: 'm', holdSeconds: 60, owner };
    expect(await state.reservations.reserve(request)).toEqual({ state: 'reserved' });
    await state.reservations.release(key, 't');
    expect(await state.reservations.reserve({ ...request, owner: other })).toEqual({ state: 'reserved' });
  });

  it('counts down, refuses past the quota, and says when to come back', async () => {
    const bucket = unique();
    const first = await state.rateLimits.take(bucket, 2, 60);
    expect(first).toMatchObject({ allowed: true, remaining: 1, retryAfter: 0 });
    expect(first.resetAt).toBeGreaterThan(Date.now() / 1000 + 55);
    expect(first.resetAt).toBeLessThan(Date.now() / 1000 + 65);
    expect(await state.rateLimits.take(bucket, 2, 60)).toMatchObject({ allowed: true, remaining: 0 });
    const refused = await state.rateLimits.take(bucket, 2, 60);
    expect(refused).toMatchObject({ allowed: false, remaining: 0 });
    expect(refused.retryAfter).toBeGreaterThan(50);
    expect(refused.retryAfter).toBeLessThanOrEqual(60);
    expect(await state.rateLimits.take(unique(), 2, 60)).toMatchObject({ allowed: true, remaining: 1 });
  });

  it.each([7, 1_000, 5_000])('admits exactly a quota of %d, however many ask at once', async (quota) => {
    const bucket = unique();
    const taken = await Promise.all(
      Array.from({ length: quota + 200 }, async () => state.rateLimits.take(bucket, quota, 600)),
    );
    expect(taken.filter(({ allowed }) => allowed)).toHaveLength(quota);
    expect(Math.min(...taken.map(({ remaining }) => remaining))).toBe(0);
  });

  it.each([3, 2_000])('slides: a quota of %d is there again when its window has passed', async (quota) => {
    const bucket = unique();
    const ask = () => state.rateLimits.take(bucket, quota, 1);
    await Promise.all(Array.from({ length: quota }, ask));
    expect((await ask()).allowed).toBe(false);
    await passed(1_100);
    expect(await ask()).toMatchObject({ allowed: true, remaining: quota - 1 });
  });

  it('keeps what it is given for its time, byte for byte, and forgets it when told', async () => {
    const key = unique();
    const value = Uint8Array.from({ length: 3_000 }, (_, i) => i % 256);
    expect(await state.cache.get(key)).toBeNull();
    await state.cache.set(key, value, 60);
    expect(Buffer.from((await state.cache.get(key)) ?? [])).toEqual(Buffer.from(value));
    await state.cache.delete(key);
    expect(await state.cache.get(key)).toBeNull();
    await state.cache.set(key, value, 0.05);
    await passed(80);
    expect(await state.cache.get(key)).toBeNull();
  });

  it('gives a reservation to one of many, and what that records to all others', async () => {
    const [key, mark] = [unique(), 'mark'];
    const reserve = (token: string) => state.reservations.reserve({ key, token, mark, holdSeconds: 60 });
    const all = await Promise.all(Array.from({ length: 20 }, (_, i) => reserve(`t${i}`)));
    const mine = all.findIndex((each) => each.state === 'reserved');
    const others = all.filter((each) => each.state === 'held');
    expect(others).toHaveLength(19);
    expect(others[0]?.mark).toBe(mark);
    expect(others[0]?.secondsLeft).toBeGreaterThan(50);
    expect(others[0]?.secondsLeft).toBeLessThanOrEqual(60);
    const record = (token: string) => state.reservations.record({ key, token, value: '{"é":1}', keepSeconds: 60 });
    expect([await record('stranger'), await record(`t${mine}`)]).toEqual([false, true]);
    await state.reservations.release(key, `t${mine}`);
    expect(await reserve('late')).toEqual({ state: 'recorded', mark, value: '{"é":1}' });
    expect(await state.reservations.reserve({ key: unique(), token: 't', mark, holdSeconds: 60 })).toEqual({
      state: 'reserved',
    });
  });

  it('lets a reservation be made again when it was released, or its time is up', async () => {
    const key = unique();
    const reserve = (token: string, holdSeconds: number) =>
      state.reservations.reserve({ key, token, mark: '', holdSeconds });
    expect((await reserve('a', 60)).state).toBe('reserved');
    await state.reservations.release(key, 'stranger');
    expect((await reserve('b', 60)).state).toBe('held');
    await state.reservations.release(key, 'a');
    expect((await reserve('c', 0.05)).state).toBe('reserved');
    await passed(80);
    expect(await state.reservations.record({ key, token: 'c', value: '', keepSeconds: 60 })).toBe(false);
    expect((await reserve('d', 60)).state).toBe('reserved');
    expect(await state.reservations.record({ key, token: 'd', value: 'v', keepSeconds: 0.05 })).toBe(true);
    await passed(80);
    expect((await reserve('e', 60)).state).toBe('reserved');
  });

  const budget = (quota: number, more: object = {}) => {
    const bucket = unique();
    const base = { bucket, quota, windowSeconds: 60, leaseSeconds: 60, ...more };
    return {
      reserve: (id: string, amount: number, over: object = {}) =>
        state.budgets.reserve({ ...base, id, amount, ...over }),
      settle: (id: string, amount: number) => state.budgets.settle({ ...base, id, amount }),
      renew: (id: string, leaseSeconds: number) => state.budgets.renew({ ...base, id, leaseSeconds }),
    };
  };

  it('reserves amounts up to a quota, and settles each once', async () => {
    const { reserve, settle } = budget(1_000_000_000_000_000);
    const tenth = 100_000_000_000_000;
    expect(await reserve('a', 6 * tenth)).toMatchObject({ allowed: true, remaining: 4 * tenth, retryAfter: 0 });
    expect(await reserve('b', 5 * tenth)).toMatchObject({ allowed: false, remaining: 4 * tenth });
    expect([await settle('a', tenth), await settle('a', tenth), await settle('b', tenth)]).toEqual([
      true,
      false,
      false,
    ]);
    const all = await reserve('c', 9 * tenth);
    expect(all).toMatchObject({ allowed: true, remaining: 0 });
    expect(all.resetAt).toBeGreaterThan(Date.now() / 1000 + 55);
    const refused = await reserve('d', tenth);
    expect(refused.allowed).toBe(false);
    expect(refused.retryAfter).toBeGreaterThan(50);
    expect(refused.retryAfter).toBeLessThanOrEqual(61);
    // What is only reserved may be given back at any time.
    expect((await reserve('d', 2 * tenth)).retryAfter).toBe(1);
    await settle('c', 0);
    expect(await reserve('e', 0)).toMatchObject({ allowed: true, remaining: 9 * tenth });
    expect(await settle('e', 0)).toBe(true);
    // More than was reserved is spent as well.
    await reserve('f', tenth);
    await settle('f', 20 * tenth);
    expect(await reserve('g', 0)).toMatchObject({ allowed: false, remaining: 0 });
  });

  it('never reserves more than a quota, however many ask at once', async () => {
    const { reserve, settle } = budget(1_000);
    const rounds = Array.from({ length: 3 }, async (_, round) => {
      const results = await Promise.all(Array.from({ length: 100 }, async (_, i) => reserve(`${round}.${i}`, 30)));
      return results.flatMap(({ allowed }, i) => (allowed ? [`${round}.${i}`] : []));
    });
    const allowed = (await Promise.all(rounds)).flat();
    expect(allowed).toHaveLength(33);
    await Promise.all(allowed.map((id) => settle(id, 10)));
    expect(await reserve('rest', 670)).toMatchObject({ allowed: true, remaining: 0 });
  });

  it('lets what was spent go when its window has passed', async () => {
    const { reserve, settle } = budget(10, { windowSeconds: 1, leaseSeconds: 30 });
    await reserve('a', 6);
    await reserve('held', 2);
    await settle('a', 6);
    expect((await reserve('b', 6)).allowed).toBe(false);
    await passed(1_100);
    expect(await reserve('b', 6)).toMatchObject({ allowed: true, remaining: 2 });
    expect(await settle('held', 2)).toBe(true);
  });

  it('counts all of a reservation as spent when its lease is up, and once', async () => {
    const { reserve, settle, renew } = budget(10);
    await reserve('dead', 6, { leaseSeconds: 0.05 });
    await reserve('alive', 3, { leaseSeconds: 0.05 });
    expect(await renew('alive', 60)).toBe(true);
    await passed(80);
    expect(await reserve('c', 2)).toMatchObject({ allowed: false, remaining: 1 });
    expect([await settle('dead', 1), await renew('dead', 60), await settle('alive', 1)]).toEqual([false, false, true]);
    expect(await reserve('d', 0)).toMatchObject({ allowed: true, remaining: 3 });
  });

  it('takes a nonce of a credential once, and none of before its beginning', async () => {
    const [credential, nonce] = [unique(), unique()];
    const now = Math.ceil(Date.now() / 1000);
    const enter = (more: object = {}) =>
      state.nonces.enter({ credential, nonce, created: now, keepSeconds: 60, ...more });
    const answers = await Promise.all(Array.from({ length: 20 }, () => enter()));
    expect(answers.toSorted()).toEqual(['new', ...Array.from({ length: 19 }, () => 'used')]);
    expect(await enter({ credential: unique() })).toBe('new');
    expect(await enter({ nonce: unique() })).toBe('new');
    expect(await enter({ nonce: unique(), created: 1_000 })).toBe('forgotten');
  });
}

describe.skipIf(REDIS_URL === undefined)('a Redis that has lost its data (needs REDIS_URL)', () => {
  it('tells of no signature of before whether it was used, and of all others', async () => {
    const prefix = crypto.randomUUID();
    const state = await RedisState.open({
      url: REDIS_URL ?? '',
      prefix,
      timeoutMs: 5_000,
      away: (reason) => expect.fail(reason),
      back: () => {},
    });
    const redis = new Redis(REDIS_URL ?? '');
    const enter = (nonce: string, created: number) =>
      state.nonces.enter({ credential: 'c', nonce, created, keepSeconds: 300 });
    const created = Math.ceil(Date.now() / 1000);
    expect([await enter('n', created), await enter('n', created)]).toEqual(['new', 'used']);
    // As if the server had been up, empty, for a second more than the signature is old.
    await redis.del(await redis.keys(`${prefix}:*`));
    await redis.set(`${prefix}:{nonces}:began`, created + 1);
    expect(await enter('n', created)).toBe('forgotten');
    expect([await enter('n', created + 1), await enter('n', created + 1)]).toEqual(['new', 'used']);
    await redis.del(await redis.keys(`${prefix}:*`));
    // It begins anew by itself: what is older than that is not known.
    expect(await enter('n', created - 60)).toBe('forgotten');
    expect(Number(await redis.get(`${prefix}:{nonces}:began`))).toBeGreaterThanOrEqual(created - 1);
    await redis.del(await redis.keys(`${prefix}:*`));
    redis.disconnect();
    await state.close();
  });
});

describe.skipIf(REDIS_URL === undefined)('two gateways on one server (needs REDIS_URL)', () => {
  it('see nothing of each other where their prefixes differ', async () => {
    const open = (prefix: string) =>
      RedisState.open({
        ...{ url: REDIS_URL ?? '', prefix, timeoutMs: 5_000, away: (reason) => expect.fail(reason) },
        back: () => {},
      });
    const [shop, bank] = await Promise.all([open('shop'), open('bank')]);
    const name = crypto.randomUUID();
    await shop.cache.set(name, Buffer.from('books'), 60);
    expect(await bank.cache.get(name)).toBeNull();
    expect(Buffer.from((await shop.cache.get(name)) ?? []).toString()).toBe('books');
    expect(await shop.rateLimits.take(name, 1, 60)).toMatchObject({ allowed: true });
    expect(await bank.rateLimits.take(name, 1, 60)).toMatchObject({ allowed: true });
    expect(await shop.rateLimits.take(name, 1, 60)).toMatchObject({ allowed: false });
    await Promise.all([shop.close(), bank.close()]);
  });
});

describe.skipIf(REDIS_URL === undefined)('shares of what a server keeps (needs REDIS_URL)', () => {
  it('are by owner: who has most is refused, or loses its oldest, and no limit is new for it', async () => {
    const prefix = crypto.randomUUID();
    const server = { url: REDIS_URL ?? '', prefix, timeoutMs: 5_000, back: () => {} };
    const room = { buckets: 10, sessions: 10, reservations: 10, cacheBytes: 20_000 };
    const state = await RedisState.open({ ...server, away: (reason) => expect.fail(reason), room });
    const take = async (name: string, owner: string) =>
      (await state.rateLimits.take(name, 1, 600, ['policy', owner])).allowed;
    expect(await take('victim', 'quiet')).toBe(true);
    const made: boolean[] = [];
    for (let i = 0; i < 20; i++) made.push(await take(`flood ${i}`, 'busy'));
    expect(made.filter(Boolean)).toHaveLength(9);
    expect([await take('victim', 'quiet'), await take('newcomer', 'new')]).toEqual([false, true]);
    expect([await take('flood 0', 'busy'), await take('newcomer', 'new')]).toEqual([false, false]);

    const spend = async (bucket: string, owner: string) => {
      const terms = { bucket, id: bucket, amount: 1, quota: 1, windowSeconds: 600, leaseSeconds: 60 };
      const { allowed } = await state.budgets.reserve({ ...terms, owner: [owner] });
      await state.budgets.settle(terms);
      return allowed;
    };
    const spent: boolean[] = [];
    for (let i = 0; i < 20; i++) spent.push(await spend(`b${i}`, 'busy'));
    expect(spent.filter(Boolean)).toHaveLength(10);
    expect([await spend('new', 'quiet'), await spend('b0', 'busy'), await spend('new', 'quiet')]).toEqual([
      ...[true, false, false],
    ]);

    const revision = '2025-11-25';
    await state.sessions.open({ id: 'mine', owner: ['quiet'], revision });
    for (let i = 0; i < 30; i++) await state.sessions.open({ id: `${i}`, owner: ['busy'], revision });
    expect(await Promise.all(['mine', '0', '29'].map((id) => state.sessions.use(id)))).toEqual([
      revision,
      null,
      revision,
    ]);

    await state.cache.set('mine', Buffer.alloc(1_000), 60, ['quiet']);
    for (let i = 0; i < 30; i++) await state.cache.set(`${i}`, Buffer.alloc(3_000), 60, ['busy']);
    const kept = await Promise.all(
      ['mine', '0', '29'].map(async (key) => (await state.cache.get(key))?.length ?? null),
    );
    expect(kept).toEqual([1_000, null, 3_000]);

    const publish = async (key: string, owner: string) => {
      const { state: is } = await state.reservations.reserve({
        key,
        token: 't',
        mark: 'm',
        holdSeconds: 60,
        owner: [owner],
      });
      if (is === 'reserved') await state.reservations.record({ key, token: 't', value: 'v', keepSeconds: 60 });
      return is;
    };
    const keys: string[] = [];
    for (let i = 0; i < 20; i++) keys.push(await publish(`k${i}`, 'busy'));
    expect(keys.filter((each) => each === 'reserved')).toHaveLength(10);
    expect(keys.at(-1)).toBe('full');
    expect([await publish('new', 'quiet'), await publish('k0', 'busy'), await publish('k1', 'busy')]).toEqual([
      'reserved',
      'forgotten',
      'recorded',
    ]);
    const redis = new Redis(REDIS_URL ?? '');
    await redis.del(await redis.keys(`${prefix}:*`));
    redis.disconnect();
    await state.close();
  });
});
