import { MemoryState, type PluginKit, type State, StateUnavailable, testPlugin } from '@gw/plugin-sdk/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

let kit: PluginKit;
const clock = { ms: 1_700_000_000_000 };
beforeAll(async () => {
  kit = await testPlugin(import.meta.dirname, { now: () => clock.ms });
});
beforeEach(() => {
  clock.ms += 86_400_000;
});
afterAll(() => kit.close());

const config = { quota: 2, window: 60 };

const counting = (take: State['rateLimits']['take']): State => ({
  ...new MemoryState(),
  rateLimits: { take },
  close: async () => {},
});

describe('rate-limit', () => {
  it('announces the policy on allowed responses', async () => {
    const { outcome, staged } = await kit.onRequest({ config });
    expect(outcome).toBe('continue');
    expect(staged).toEqual({
      'x-ratelimit-policy': '"default";q=2;w=60',
      'x-ratelimit-limit': '2',
      'x-ratelimit-remaining': '1',
      'x-ratelimit-reset': String(clock.ms / 1000 + 60),
    });
  });

  it('answers 429 past the quota, with the IETF headers, until the window has slid on', async () => {
    await kit.onRequest({ config });
    clock.ms += 20_500;
    await kit.onRequest({ config });
    const { outcome, answer, problem } = await kit.onRequest({ config });
    expect(outcome).toBe('answered');
    expect(answer?.status).toBe(429);
    expect(answer?.headers).toEqual({
      'content-type': 'application/problem+json',
      'ratelimit-policy': '"default";q=2;w=60',
      ratelimit: '"default";r=0;t=40',
      'retry-after': '40',
    });
    expect(problem).toMatchObject({ type: 'urn:gw:error:rate-limited', title: 'Too many requests', status: 429 });
    clock.ms += 39_000;
    expect((await kit.onRequest({ config })).outcome).toBe('answered');
    clock.ms += 1_000;
    expect((await kit.onRequest({ config })).outcome).toBe('continue');
  });

  const one = { quota: 1, window: 60 };

  it('gives each client its own quota by default', async () => {
    await kit.onRequest({ config: one, clientIp: '192.0.2.1' });
    expect((await kit.onRequest({ config: one, clientIp: '192.0.2.1' })).outcome).toBe('answered');
    expect((await kit.onRequest({ config: one, clientIp: '192.0.2.2' })).outcome).toBe('continue');
    // The address is the gateway's to find out (docs/decisions.md#client-address), whatever headers say.
    const forged = { 'x-forwarded-for': '203.0.113.9' };
    expect((await kit.onRequest({ config: one, clientIp: '192.0.2.1', headers: forged })).outcome).toBe('answered');
  });

  it('counts IPv6 clients by their /64, or by address if ipv6_by says so', async () => {
    const outcomes = async (more: object, addresses: readonly string[]) => {
      const config = { quota: 1, window: 60, policy_name: crypto.randomUUID(), ...more };
      const answers = [];
      for (const clientIp of addresses) answers.push((await kit.onRequest({ config, clientIp })).outcome);
      return answers;
    };
    const addresses = ['2001:db8::1', '2001:db8::2', '2001:db8:0:1::1', '192.0.2.1', '192.0.2.2'];
    expect(await outcomes({}, addresses)).toEqual(['continue', 'answered', 'continue', 'continue', 'continue']);
    expect(await outcomes({ ipv6_by: 'address' }, addresses)).toEqual(addresses.map(() => 'continue'));
  });

  it('partitions by a header', async () => {
    const by = { ...one, partition_key: 'header:X-Tenant' };
    await kit.onRequest({ config: by, headers: { 'x-tenant': 'a' } });
    expect((await kit.onRequest({ config: by, headers: { 'x-tenant': 'a' } })).outcome).toBe('answered');
    expect((await kit.onRequest({ config: by, headers: { 'x-tenant': 'b' } })).outcome).toBe('continue');
  });

  it('partitions by a context value', async () => {
    const by = { ...one, partition_key: 'context:auth.consumer' };
    await kit.onRequest({ config: by, context: { 'auth.consumer': 'alice' } });
    expect((await kit.onRequest({ config: by, context: { 'auth.consumer': 'alice' } })).outcome).toBe('answered');
    expect((await kit.onRequest({ config: by, context: { 'auth.consumer': 'bob' } })).outcome).toBe('continue');
  });

  it('has one quota over all for any other text', async () => {
    const by = { ...one, partition_key: 'everyone' };
    await kit.onRequest({ config: by, clientIp: '192.0.2.1' });
    expect((await kit.onRequest({ config: by, clientIp: '192.0.2.2' })).outcome).toBe('answered');
  });

  it('counts requests without the header together, apart from any value', async () => {
    const by = { ...one, partition_key: 'header:x-tenant' };
    await kit.onRequest({ config: by, clientIp: '192.0.2.1' });
    expect((await kit.onRequest({ config: by, clientIp: '192.0.2.2' })).outcome).toBe('answered');
    expect((await kit.onRequest({ config: by, headers: { 'x-tenant': '' } })).outcome).toBe('continue');
  });

  it('shares a bucket between instances of one policy name, and only those', async () => {
    await kit.onRequest({ config: { ...one, policy_name: 'api' } });
    expect((await kit.onRequest({ config: { quota: 1, window: 60, policy_name: 'api' } })).outcome).toBe('answered');
    expect((await kit.onRequest({ config: { ...one, policy_name: 'other' } })).outcome).toBe('continue');
  });

  it('shows the tightest of stacked policies', async () => {
    const wide = { quota: 100, window: 3600, policy_name: 'wide' };
    const narrow = { quota: 5, window: 60, policy_name: 'narrow' };
    const first = await kit.onRequest({ config: narrow });
    const { staged } = await kit.onRequest({ config: wide, context: first.context });
    expect(first.staged['x-ratelimit-policy']).toBe('"narrow";q=5;w=60');
    expect(staged).toEqual({});
    const other = await kit.onRequest({ config: wide });
    const tighter = await kit.onRequest({ config: narrow, context: other.context });
    expect(tighter.staged['x-ratelimit-policy']).toBe('"narrow";q=5;w=60');
  });

  it('admits exactly the quota of requests that come at once', async () => {
    const many = { quota: 50, window: 60 };
    const bound = await kit.bind(many);
    bound.close();
    const results = await Promise.all(Array.from({ length: 200 }, () => kit.onRequest({ config: many })));
    expect(results.filter(({ outcome }) => outcome === 'continue').length).toBe(50);
  });

  it.each([
    {},
    { quota: 1 },
    { window: 1 },
    { quota: 0, window: 1 },
    { quota: 1, window: 0 },
    { quota: 1.5, window: 1 },
    { quota: 1, window: 1, policy_name: 'a"b' },
    { quota: 1, window: 1, partition_key: 'header:' },
    { quota: 1, window: 1, other: 1 },
  ])('refuses the config %j', async (bad) => {
    await expect(kit.bind(bad)).rejects.toThrow();
  });

  it('waits for counters that live elsewhere', async () => {
    const slow = await testPlugin(import.meta.dirname, {
      state: counting(async () => {
        await new Promise((resolve) => setImmediate(resolve));
        return { allowed: false, remaining: 0, resetAt: 10, retryAfter: 3.2 };
      }),
    });
    const results = await Promise.all([slow.onRequest({ config }), slow.onRequest({ config })]);
    expect(results.map(({ answer }) => answer?.headers['retry-after'])).toEqual(['4', '4']);
    slow.close();
  });

  it('counts in the process while the counters are away', async () => {
    const away = await testPlugin(import.meta.dirname, {
      state: {
        ...counting(() => Promise.reject(new StateUnavailable('away'))),
        localRateLimits: new MemoryState().rateLimits,
      },
    });
    const local = { ...config, quota: 2 };
    const answers = [];
    for (let i = 0; i < 3; i++) answers.push((await away.onRequest({ config: local })).answer?.status);
    expect(answers).toEqual([undefined, undefined, 429]);
    const passed = await away.onRequest({ config: { ...local, on_state_failure: 'allow' } });
    expect(passed).toMatchObject({ outcome: 'continue', staged: {} });
    away.close();
  });

  it('lets requests pass uncounted where nothing can be counted, or answers 503', async () => {
    const away = await testPlugin(import.meta.dirname, {
      state: counting(() => Promise.reject(new StateUnavailable('away'))),
    });
    const passed = await away.onRequest({ config });
    expect(passed).toMatchObject({ outcome: 'continue', staged: {} });
    const { answer, problem } = await away.onRequest({ config: { ...config, on_state_failure: 'deny' } });
    expect(answer).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
    expect(problem).toMatchObject({ type: 'urn:gw:error:state-unavailable', title: 'Service unavailable' });
    away.close();
  });
});
