import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/artifact/format.ts';
import { CircuitBreaker } from '../../../../../src/egress/health/breaker.ts';
import { type Endpoint, KnownEndpoints } from './endpoint.ts';
import { EndpointHealth } from './endpoint-health.ts';
import { Target } from './targets.ts';

const NONE: ReadonlySet<Endpoint> = new Set();

function targetOf(endpoints: readonly JsonObject[], balance = 'weight'): Target {
  const config: JsonObject = {
    provider: 'provider_chat',
    balance,
    endpoints: endpoints.map((each, i) => ({ base_url: `https://e${i}.example`, ...each })),
  };
  return new Target('one', config, new KnownEndpoints());
}

const chosenOf = ({ balance }: Target) => balance.next('m', NONE)?.endpoint ?? null;

function counts(target: Target, times: number): readonly number[] {
  const chosen = Array.from({ length: times }, () => chosenOf(target));
  return target.endpoints.map((each) => chosen.filter((one) => one === each).length);
}

const weights = fc.array(fc.integer({ min: 1, max: 1000 }), { minLength: 2, maxLength: 16 });

describe('the choice of an endpoint', () => {
  it('keeps to the weights, over any number of requests', () => {
    fc.assert(
      fc.property(weights, fc.integer({ min: 1, max: 300 }), (each, times) => {
        const total = each.reduce((sum, weight) => sum + weight);
        counts(targetOf(each.map((weight) => ({ weight }))), times).forEach((count, i) => {
          expect(Math.abs(count - (times * (each[i] ?? 0)) / total)).toBeLessThan(each.length);
        });
      }),
    );
  });

  it('is exact over as many requests as the weights are together', () => {
    expect(counts(targetOf([{ weight: 5 }, { weight: 3 }, { weight: 2 }]), 100)).toEqual([50, 30, 20]);
  });

  it('is none that rests, is broken, was asked before or has failed lately, while another one is free', () => {
    const marks = fc.array(fc.constantFrom('free', 'shaky', 'limited', 'resting', 'broken', 'tried'), {
      minLength: 2,
      maxLength: 8,
    });
    const balances = fc.constantFrom('weight', 'latency', 'quota', 'cost');
    fc.assert(
      fc.property(marks, balances, (each: readonly string[], balance) => {
        const target = targetOf(
          each.map((_, i) => ({ price: i, weight: i + 1 })),
          balance,
        );
        const tried = new Set<Endpoint>();
        for (const [i, endpoint] of target.endpoints.entries()) mark(endpoint, each[i] ?? '', tried);
        const chosen = target.balance.next('m', tried)?.endpoint;
        const state = chosen && each[target.endpoints.indexOf(chosen)];
        const wanted = each.includes('free') ? ['free'] : ['shaky', 'limited'].filter((one) => each.includes(one));
        if (wanted.length === 0) expect(state).toBeUndefined();
        else expect(wanted).toContain(state);
        expect(target.balance.hasNext('m', tried)).toBe(wanted.length > 0);
      }),
    );
  });

  it('goes by the time that each takes, and to one that nobody knows', () => {
    const target = targetOf([{}, {}, {}], 'latency');
    target.endpoints[0].health.answered(100);
    target.endpoints[1]?.health.answered(300);
    expect(counts(target, 70)).toEqual([30, 10, 30]);
  });

  it('goes by what is left of each quota', () => {
    const target = targetOf([{}, {}], 'quota');
    const limits = ['x-ratelimit-limit-tokens', '100', 'x-ratelimit-limit-requests', '100'];
    target.endpoints[0].health.recordQuota([
      'x-ratelimit-remaining-tokens',
      '25',
      'x-ratelimit-remaining-requests',
      '99',
      ...limits,
    ]);
    expect(counts(target, 50)).toEqual([10, 40]);
  });

  it('is the cheapest, in turns where several are', () => {
    expect(counts(targetOf([{ price: 2 }, { price: 1 }, { price: 1 }], 'cost'), 10)).toEqual([0, 5, 5]);
  });

  it('says why, without an address or a credential', () => {
    const target = targetOf([{ api_key: 'secret' }, {}, {}]);
    target.endpoints[0].health.limited('m', 1000);
    expect(target.balance.next('m', NONE)?.why).toBe('endpoint 2 of 3, by weight of 2; endpoint 1 rests after 429');
  });

  it('leaves a target with one endpoint as it is: it does not rest', () => {
    const target = targetOf([{}]);
    target.endpoints[0].health.limited('m', 60_000);
    expect(chosenOf(target)).toBe(target.endpoints[0]);
  });
});

function mark(endpoint: Endpoint, as: string, tried: Set<Endpoint>): void {
  const { health } = endpoint;
  if (as === 'shaky') health.failed();
  if (as === 'limited') health.limited('m', null);
  if (as === 'resting') health.limited('m', 60_000);
  if (as === 'broken') for (let i = 0; i < 5; i++) health.breaker.failed();
  if (as === 'tried') tried.add(endpoint);
}

describe('an endpoint', () => {
  const rig = () => {
    const clock = { now: 0 };
    const breaker = new CircuitBreaker({ failures: 2, cooldownMs: 1000 }, () => clock.now);
    return { clock, breaker, health: new EndpointHealth(breaker, () => clock.now) };
  };

  it.each([
    [2_000, 2_000, 'resting'],
    [null, 5_000, 'limited'],
    [86_400_000, 300_000, 'resting'],
  ])('that says with 429 to come back in %s ms is for %s ms %s, for that model alone', (says, rests, state) => {
    const { clock, health } = rig();
    health.limited('m', says);
    expect([health.state('m'), health.state('n'), health.retryAfter('m')]).toEqual([state, 'free', rests / 1000]);
    clock.now = rests;
    expect(health.state('m')).toBe('free');
  });

  it('is asked for the model that it has rested for longest, where clients name ever more of them', () => {
    const { health } = rig();
    for (let i = 0; i < 65; i++) health.limited(`m${i}`, 1000);
    expect([health.state('m0'), health.state('m1'), health.state('m64')]).toEqual(['free', 'resting', 'resting']);
  });

  it('is asked once when its circuit breaker has been open for its time', () => {
    const { clock, health, breaker } = rig();
    for (let i = 0; i < 2; i++) if (breaker.admits()) breaker.failed();
    expect(health.state('m')).toBe('broken');
    clock.now = 1000;
    expect(health.state('m')).toBe('free');
    expect(breaker.admits()).toBe(true);
    expect(health.state('m')).toBe('broken');
    breaker.succeeded();
    expect(health.state('m')).toBe('free');
  });

  it.each([
    [['x-ratelimit-remaining-requests', '1', 'x-ratelimit-limit-requests', '4'], 0.25],
    [['anthropic-ratelimit-input-tokens-remaining', '10', 'anthropic-ratelimit-input-tokens-limit', '100'], 0.1],
    [['x-ratelimit-remaining-requests', '900', 'x-ratelimit-limit-requests', '4'], 1],
    [['x-ratelimit-remaining-requests', '-1', 'x-ratelimit-limit-requests', '4'], 1],
    [['x-ratelimit-remaining-requests', '1e99', 'x-ratelimit-limit-requests', '0'], 1],
    [['x-ratelimit-remaining-requests', '0', 'x-ratelimit-limit-requests', '0'], 1],
  ])('whose answer has %j has %s of its quota left, for a minute', (headers, left) => {
    const { clock, health } = rig();
    health.recordQuota(headers);
    expect(health.quotaLeft).toBe(left);
    clock.now = 60_001;
    expect(health.quotaLeft).toBe(1);
  });
});
