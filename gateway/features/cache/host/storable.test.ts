/** What a shared cache must never store, and for whom it may (RFC 9111, section 3). */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../../test/property-runs.ts';
import { type Origin, Rig, type Sent } from '../../../../test/response-cache-rig.ts';
import { decodeStored } from './stored-response.ts';

describe('is never stored', () => {
  const fresh = 'max-age=60';
  it.each<[string, Origin, Sent?, object?]>([
    ['no-store', { headers: { 'cache-control': `${fresh}, no-store` } }],
    ['private', { headers: { 'cache-control': `${fresh}, private` } }],
    ['private with fields', { headers: { 'cache-control': `private="x-name", ${fresh}` } }],
    ['Vary: *', { headers: { 'cache-control': fresh, vary: '*' } }],
    ['Vary: * among others', { headers: { 'cache-control': fresh, vary: ['accept', '*'] } }],
    ['Vary by more headers than are worth it', { headers: { vary: Array.from({ length: 17 }, (_, i) => `h${i}`) } }],
    ['Set-Cookie', { headers: { 'cache-control': fresh, 'set-cookie': 'session=1' } }],
    ['a status that is not listed', { status: 500, headers: { 'cache-control': fresh } }],
    ['206', { status: 206, headers: { 'cache-control': fresh, 'content-range': 'bytes 0-1/5' } }],
    ['304 for nobody', { status: 304, headers: { 'cache-control': fresh } }],
    ['an error without a lifetime', { status: 404 }, {}, { default_ttl: 60 }],
    ['what is too large', { headers: { 'cache-control': fresh }, body: 'x'.repeat(101) }, {}, { max_body_bytes: 100 }],
    ['the answer to no-store', { headers: { 'cache-control': fresh } }, { headers: { 'cache-control': 'no-store' } }],
    ['the answer to HEAD', { headers: { 'cache-control': fresh } }, { method: 'HEAD' }],
    ['the answer to OPTIONS', { headers: { 'cache-control': fresh } }, { method: 'OPTIONS' }],
    ['the answer to POST', { headers: { 'cache-control': fresh } }, { method: 'POST' }, { invalidate: false }],
    ['a method that is not configured', { headers: { 'cache-control': fresh } }, {}, { methods: ['HEAD'] }],
    ['the answer to a Range', { headers: { 'cache-control': fresh } }, { headers: { range: 'bytes=0-1' } }],
    ['the answer to If-Match', { headers: { 'cache-control': fresh } }, { headers: { 'if-match': '"1"' } }],
  ])('%s', async (_what, origin, sent = {}, rules = {}) => {
    const rig = new Rig(rules);
    expect(await rig.reuses(origin, 0, sent)).toBe(false);
    expect(rig.store.bytes).toBe(0);
  });

  it.each<[string, Origin, object]>([
    [
      'Set-Cookie where that is wanted',
      { headers: { 'cache-control': fresh, 'set-cookie': 'a=1' } },
      { store_set_cookie: true },
    ],
    ['an error with a lifetime', { status: 404, headers: { 'cache-control': fresh } }, {}],
    ['an error by negative_ttl', { status: 404 }, { negative_ttl: 60 }],
    ['another status by configuration', { status: 503, headers: { 'cache-control': fresh } }, { statuses: [503] }],
  ])('but: %s', async (_what, origin, rules) => {
    expect(await new Rig(rules).reuses(origin, 30)).toBe(true);
  });
});

describe('authenticated requests', () => {
  const bearer = { headers: { authorization: 'Bearer 1' } };
  const known = (name: string): Sent => ({ headers: { 'x-auth-consumer': name } });
  it.each<[string, Sent, string, boolean]>([
    ['credentials', bearer, 'max-age=60', false],
    ['a caller that a plugin knows', known('ann'), 'max-age=60', false],
    ['public', bearer, 'max-age=60, public', true],
    ['s-maxage', bearer, 's-maxage=60', true],
    ['must-revalidate', bearer, 'max-age=60, must-revalidate', true],
    ['public, of a known caller', known('ann'), 'max-age=60, public', true],
    ['a caller who is known only behind the cache', { later: { 'x-auth-consumer': 'ann' } }, 'max-age=60', false],
    ['and for whom it is public', { ...bearer, later: { 'x-auth-consumer': 'ann' } }, 'max-age=60, public', false],
    ['private in a partition', { ...known('ann'), partition: 'ann' }, 'private, max-age=60', false],
    ['a partition', { ...known('ann'), partition: 'ann' }, 'max-age=60', true],
  ])('%s: stored %#', async (_what, sent, control, reused) => {
    expect(await new Rig().reuses({ headers: { 'cache-control': control } }, 0, sent)).toBe(reused);
  });

  it('have nothing in common with another partition', async () => {
    const rig = new Rig();
    const origin = (body: string) => ({ headers: { 'cache-control': 'max-age=60' }, body });
    await rig.send({ ...known('ann'), partition: 'ann' }, origin('of Ann'));
    expect((await rig.send({ ...known('bob'), partition: 'bob' }, origin('of Bob'))).body).toBe('of Bob');
    expect((await rig.send({}, origin('of nobody'))).body).toBe('of nobody');
    expect(await rig.send({ ...known('ann'), partition: 'ann' })).toMatchObject({ body: 'of Ann', asked: null });
  });
});

describe('what others put into the store', () => {
  it.each<[string, (bytes: Buffer) => Buffer]>([
    [
      'a line break in a header',
      (bytes) => Buffer.from(bytes.toString('latin1').replace('plain', 'a\\r\\nb'), 'latin1'),
    ],
    [
      'a header name that is none',
      (bytes) => Buffer.from(bytes.toString('latin1').replace('x-kind', 'x kind'), 'latin1'),
    ],
    ['a length past the end', (bytes) => Buffer.concat([Buffer.from([255, 255, 255, 255]), bytes.subarray(4)])],
    ['nothing', () => Buffer.alloc(0)],
    ['what is no JSON', () => Buffer.from('\0\0\0\x02{]')],
    [
      'an impossible status',
      (bytes) => Buffer.from(bytes.toString('latin1').replace('"status":200', '"status":100'), 'latin1'),
    ],
  ])('%s is not answered with', async (_what, spoil) => {
    const rig = new Rig();
    const origin = { headers: { 'cache-control': 'max-age=60', 'x-kind': 'plain' } };
    const put = rig.store.set.bind(rig.store);
    rig.store.set = (key, value, ttl) => put(key, spoil(Buffer.from(value)), ttl);
    await rig.send({}, origin);
    expect(rig.store.bytes).toBeGreaterThan(0);
    expect((await rig.send({}, origin)).asked).not.toBeNull();
  });

  it('is read or refused, whatever it is', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        decodeStored(bytes);
      }),
      propertyRuns(500),
    );
  });
});
