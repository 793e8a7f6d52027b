/** Who fetches, who waits, and what invalidates (RFC 9111, section 4.4). */
import { describe, expect, it } from 'vitest';
import { type Origin, Rig, type Sent } from '../../../../test/response-cache-rig.ts';
import type { HeaderRecord } from '../../../sdk/testing/kit.ts';
import { headerList, headerRecord } from '../../../sdk/testing/recorder.ts';
import type { Exchange } from '../../../src/exchange.ts';
import { StateUnavailable } from '../../../src/state/state.ts';
import { ResponseCache } from './response-cache.ts';

describe('unsafe methods', () => {
  const origin = { headers: { 'cache-control': 'max-age=60' } };
  it.each<[string, Sent, Origin, string, boolean]>([
    ['a success', { method: 'POST', path: '/a' }, { status: 201 }, '/a', false],
    ['a success, for every query', { method: 'PUT', path: '/a' }, {}, '/a?page=2', false],
    ['a redirect', { method: 'POST', path: '/a' }, { status: 303 }, '/a', false],
    ['an error', { method: 'POST', path: '/a' }, { status: 400 }, '/a', true],
    ['another path', { method: 'POST', path: '/b' }, {}, '/a', true],
    ['Location', { method: 'POST', path: '/b' }, { headers: { location: '/a' } }, '/a', false],
    ['Content-Location', { method: 'POST', path: '/b/c' }, { headers: { 'content-location': '../a' } }, '/a', false],
    [
      'an absolute Location',
      { method: 'POST', path: '/b' },
      { headers: { location: 'http://api.example/a' } },
      '/a',
      false,
    ],
    [
      'a Location elsewhere',
      { method: 'POST', path: '/b' },
      { headers: { location: 'http://evil.example/a' } },
      '/a',
      true,
    ],
    ['a Location that is none', { method: 'POST', path: '/b' }, { headers: { location: 'http://[' } }, '/a', true],
    ['DELETE', { method: 'DELETE', path: '/a' }, { status: 204 }, '/a', false],
  ])('invalidate by %s', async (_what, sent, answer, path, kept) => {
    const rig = new Rig();
    await rig.send({ path }, origin);
    await rig.send(sent, answer);
    expect((await rig.send({ path }, origin)).asked === null).toBe(kept);
    expect((await rig.send({ path }, origin)).asked).toBeNull();
  });

  it('invalidate what is under way, too', async () => {
    const rig = new Rig();
    const exchange = rig.exchange({});
    await rig.cache.lookup(exchange, null, '');
    await rig.send({ method: 'POST' }, {});
    exchange.response.status = 200;
    exchange.response.headers = ['cache-control', 'max-age=60'];
    exchange.response.body = 'from before';
    await rig.cache.settle(exchange);
    expect((await rig.send({}, { ...origin, body: 'after' })).body).toBe('after');
  });
});

describe('one request fetches', () => {
  const origin = { headers: { 'cache-control': 'max-age=60' }, body: 'book' };
  const finish = (rig: Rig, exchange: Exchange, headers: HeaderRecord = origin.headers) => {
    exchange.response.status = 200;
    exchange.response.headers = headerList(headers);
    exchange.response.body = 'book';
    return rig.cache.settle(exchange);
  };

  it('and the others wait for it', async () => {
    const rig = new Rig();
    const first = rig.exchange({});
    await rig.cache.lookup(first, null, '');
    const others = Array.from({ length: 20 }, () => rig.send({}));
    await finish(rig, first);
    for (const got of await Promise.all(others)) {
      expect(got).toMatchObject({ body: 'book', asked: null });
      expect(got.headers['cache-status']).toBe('gw;hit;ttl=60;collapsed');
    }
  });

  it('another takes over where its client leaves', async () => {
    const rig = new Rig();
    const first = rig.exchange({});
    await rig.cache.lookup(first, null, '');
    const others = Array.from({ length: 5 }, () => rig.send({}, origin));
    first.close();
    const got = await Promise.all(others);
    expect(got.filter(({ asked }) => asked !== null)).toHaveLength(1);
  });

  it('and nobody waits where its response may not be stored, nor for a while after', async () => {
    const rig = new Rig();
    const first = rig.exchange({});
    await rig.cache.lookup(first, null, '');
    const others = Array.from({ length: 5 }, () => rig.send({}, { headers: { 'cache-control': 'private' } }));
    await finish(rig, first, { 'cache-control': 'private' });
    expect((await Promise.all(others)).every(({ asked }) => asked !== null)).toBe(true);
    const [a, b] = [rig.exchange({}), rig.exchange({})];
    expect(rig.cache.lookup(a, null, '')).toBe(false);
    expect(rig.cache.lookup(b, null, '')).toBe(false);
  });

  it('and one who has asked a store elsewhere just before looks again', async () => {
    const rig = new Rig();
    const later = <T>(value: T) => new Promise<T>((resolve) => setTimeout(() => resolve(value), 40));
    const { store } = rig;
    const cache = new ResponseCache('{}', {
      store: {
        get: (key) => later(store.get(key)),
        set: async (key, value, ttl) => store.set(key, value, ttl),
        delete: async (key) => store.delete(key),
      },
      now: () => rig.clock.ms,
      log: (message) => expect.fail(message),
    });
    const [first, second] = [rig.exchange({}), rig.exchange({})];
    const leads = cache.lookup(first, null, '');
    await new Promise((resolve) => setTimeout(resolve, 20));
    const follows = cache.lookup(second, null, '');
    expect(await leads).toBe(false);
    first.response.status = 200;
    first.response.headers = headerList(origin.headers);
    first.response.body = 'book';
    await cache.settle(first);
    expect(await follows).toBe(true);
  });

  it('and a client that takes its time holds up nobody for longer than lock_timeout', async () => {
    const rig = new Rig({ lock_timeout: 0.2 });
    await rig.cache.lookup(rig.exchange({}), null, '');
    const second = rig.send({}, origin);
    await new Promise((resolve) => setTimeout(resolve, 100));
    const third = rig.send({});
    expect((await second).asked).not.toBeNull();
    expect((await third).asked).toBeNull();
  });

  it('and who has waited for lock_timeout goes on alone', async () => {
    const rig = new Rig({ lock_timeout: 0.05 });
    await rig.cache.lookup(rig.exchange({}), null, '');
    expect((await rig.send({}, origin)).asked).not.toBeNull();
  });
});

it('goes on without a store that is away', async () => {
  const away = () => Promise.reject(new StateUnavailable('away'));
  const cache = new ResponseCache('{}', {
    store: { get: away, set: away, delete: away },
    log: (message) => expect.fail(message),
  });
  const exchange = new Rig().exchange({});
  expect(await cache.lookup(exchange, null, '')).toBe(false);
  exchange.response.status = 200;
  exchange.response.headers = ['cache-control', 'max-age=60'];
  expect(await cache.settle(exchange)).toBe(false);
  expect(headerRecord(exchange.response.headers)['cache-status']).toBe('gw;fwd=bypass;detail=state-unavailable');
  const post = new Rig().exchange({ method: 'POST' });
  await cache.lookup(post, null, '');
  post.response.status = 200;
  expect(await cache.settle(post)).toBe(false);
});
