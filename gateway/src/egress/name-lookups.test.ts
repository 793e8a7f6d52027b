import { describe, expect, it } from 'vitest';
import { LookupsCrowded, NameLookups } from './name-lookups.ts';
import { zoneOf } from './zone.ts';

const PLACES = 10;
const MOST_WAITING = 1000;
const FOREVER = new AbortController().signal;

/** A resolver whose name servers answer when the test says so. */
function resolver(places = PLACES) {
  const asked: string[] = [];
  const underWay = new Map<string, PromiseWithResolvers<readonly string[]>>();
  let clock = 0;
  const lookups = new NameLookups({
    places,
    lookup(name) {
      asked.push(name);
      const answer = Promise.withResolvers<readonly string[]>();
      underWay.set(name, answer);
      return answer.promise;
    },
    now: () => clock,
  });
  const settle = async (name: string, then: (answer: PromiseWithResolvers<readonly string[]>) => void) => {
    const answer = underWay.get(name);
    if (answer === undefined) throw new Error(`${name} is not looked up`);
    underWay.delete(name);
    then(answer);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return {
    asked,
    running: () => [...underWay.keys()],
    /** Waits for it, and leaves its end alone. */
    ask: (name: string, signal = FOREVER) => void lookups.addresses(name, signal).catch(() => {}),
    addresses: (name: string, signal = FOREVER) => lookups.addresses(name, signal),
    answer: (name: string, addresses = ['192.0.2.1']) => settle(name, ({ resolve }) => resolve(addresses)),
    fail: (name: string) => settle(name, ({ reject }) => reject(new Error('ENOTFOUND'))),
    pass: (ms: number) => {
      clock += ms;
    },
  };
}

const manyOf = (zone: string) => Array.from({ length: 100 }, (_, n) => `host-${n}.${zone}`);

// docs/decisions.md#name-lookups
describe('look-ups of names', () => {
  it('are shared by all who wait for a name, and no answer is kept', async () => {
    const { asked, addresses, answer, fail } = resolver();
    const all = Promise.all([addresses('api.example'), addresses('API.example'), addresses('api.example')]);
    await answer('api.example', ['192.0.2.7']);
    expect(await all).toEqual([['192.0.2.7'], ['192.0.2.7'], ['192.0.2.7']]);
    expect(asked).toEqual(['api.example']);
    const failing = Promise.allSettled([addresses('api.example'), addresses('api.example')]);
    await fail('api.example');
    expect((await failing).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(asked).toEqual(['api.example', 'api.example']);
  });

  it('leave places to others, however many names one zone has whose servers are silent', async () => {
    const { ask, running, addresses, answer } = resolver();
    for (const name of manyOf('silent.example')) ask(name);
    expect(running()).toHaveLength(5);
    const found = addresses('api.example');
    await answer('api.example');
    expect(await found).toEqual(['192.0.2.1']);
    expect(running()).toHaveLength(5);
  });

  it('leave places to names that were quick, however many zones are silent', async () => {
    const { ask, running, addresses, answer, pass } = resolver();
    ask('api.example');
    await answer('api.example');
    for (let zone = 0; zone < 100; zone++) for (const name of manyOf(`silent-${zone}.example`)) ask(name);
    for (let seconds = 0; seconds < 100; seconds += 5) {
      pass(5_000);
      const found = addresses('api.example');
      expect(running()).toContain('api.example');
      await answer('api.example');
      expect(await found).toEqual(['192.0.2.1']);
      for (const name of running()) await answer(name);
    }
  });

  it('give zones that were slow few places, and each one, until they are quick', async () => {
    const { ask, running, answer, pass } = resolver();
    const zones = ['a.example', 'b.example', 'c.example'];
    for (const zone of zones) ask(`api.sub.${zone}`);
    for (const zone of zones) ask(`web.sub.${zone}`);
    expect(running()).toHaveLength(6);
    pass(1_000);
    for (const name of running()) await answer(name);
    for (const zone of zones) for (const name of [`api.sub.${zone}`, `new.${zone}`]) ask(name);
    expect(running()).toEqual(['api.sub.a.example', 'api.sub.b.example']);
    await answer('api.sub.a.example');
    await answer('api.sub.b.example');
    expect(running()).toEqual(['new.a.example', 'new.b.example']);
    await answer('new.a.example');
    await answer('new.b.example');
    expect(running()).toEqual(['api.sub.c.example']);
    // Names that were quick again have their places back; others of their zone wait for a while.
    ask('api.sub.a.example');
    ask('api.sub.b.example');
    ask('api.sub.c.example');
    expect(running()).toEqual(['api.sub.c.example', 'api.sub.a.example', 'api.sub.b.example']);
  });

  it('take quick names of a zone that became silent for slow as soon as they are', async () => {
    const { ask, running, answer, pass } = resolver();
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => `${name}.${name}-turns.example`);
    for (const name of [...names, 'api.example']) {
      ask(name);
      await answer(name);
    }
    for (const name of names) ask(name);
    expect(running()).toEqual(names);
    ask('api.example');
    expect(running()).toEqual(names);
    pass(1_000);
    // The next that comes is told of it, and so is a timer.
    ask('other.example');
    expect(running()).toEqual([...names, 'api.example']);
  });

  it('end with those who wait: a name that nobody waits for is not looked up', async () => {
    const { ask, asked, addresses, answer } = resolver(1);
    ask('slow.example');
    const [one, other] = [new AbortController(), new AbortController()];
    const left = Promise.allSettled([addresses('api.example', one.signal), addresses('api.example', other.signal)]);
    one.abort();
    const stays = addresses('web.example');
    other.abort();
    expect(await left).toMatchObject([{ reason: expect.any(LookupsCrowded) }, { reason: expect.any(LookupsCrowded) }]);
    await answer('slow.example');
    await answer('web.example');
    expect(await stays).toEqual(['192.0.2.1']);
    expect(asked).toEqual(['slow.example', 'web.example']);
    await expect(addresses('api.example', AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
  });

  it('wait up to a most, past which the zone that has most waiting gives way', async () => {
    const { ask, addresses, asked, answer } = resolver(1);
    ask('slow.example');
    const flood = Array.from({ length: MOST_WAITING }, (_, n) => addresses(`host-${n}.flood.example`));
    const ends = Promise.allSettled(flood);
    await expect(addresses('one-more.flood.example')).rejects.toThrow(LookupsCrowded);
    const found = addresses('api.example');
    await expect(flood.at(-1)).rejects.toThrow(LookupsCrowded);
    await answer('slow.example');
    await answer('host-0.flood.example');
    await answer('api.example');
    expect(await found).toEqual(['192.0.2.1']);
    expect(asked.slice(0, 3)).toEqual(['slow.example', 'host-0.flood.example', 'api.example']);
    for (let n = 1; n < MOST_WAITING - 1; n++) await answer(`host-${n}.flood.example`);
    expect((await ends).filter(({ status }) => status === 'rejected')).toHaveLength(1);
  });
});

describe('zone of a name', () => {
  it.each([
    ['redis', 'redis'],
    ['api.example', 'api.example'],
    ['a.b.c.evil.example.', 'evil.example'],
    ['api.bank.co.uk', 'bank.co.uk'],
    ['shop.example.de', 'example.de'],
    ['api.tenant.svc', 'tenant.svc'],
    ['api.tenant.svc.cluster.local', 'tenant.svc.cluster.local'],
    ['pod-0.api.tenant.svc.cluster.local.', 'tenant.svc.cluster.local'],
    ['a.b.svc.evil.example', 'evil.example'],
  ])('%s: %s', (name, zone) => {
    expect(zoneOf(name)).toBe(zone);
  });
});
