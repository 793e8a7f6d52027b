/** For how long a shared cache may answer with what it stored, and with what conditions (RFC 9111, sections 4.2, 4.3, 5.2). */
import { describe, expect, it } from 'vitest';
import { httpDate, Rig, START } from '../../../../test/response-cache-rig.ts';
import type { HeaderRecord } from '../../../sdk/testing/kit.ts';

describe('freshness', () => {
  const expires = (seconds: number) => httpDate(START + seconds * 1000);
  it.each<[string, HeaderRecord, number, boolean, object?]>([
    ['max-age', { 'cache-control': 'max-age=60' }, 59, true],
    ['max-age has passed', { 'cache-control': 'max-age=60' }, 60, false],
    ['s-maxage before max-age', { 'cache-control': 'max-age=10, s-maxage=60' }, 30, true],
    ['s-maxage before a longer max-age', { 'cache-control': 'max-age=60, s-maxage=10' }, 30, false],
    ['Expires', { expires: expires(60) }, 59, true],
    ['Expires has passed', { expires: expires(60) }, 61, false],
    ['max-age before Expires', { expires: expires(600), 'cache-control': 'max-age=1' }, 30, false],
    ['Expires that is no date', { expires: '0' }, 0, false],
    ['Expires against the origin’s own clock', { date: expires(-1000), expires: expires(-940) }, 1, false],
    ['Age is taken off', { 'cache-control': 'max-age=60', age: '50' }, 9, true],
    ['Age is taken off: stale', { 'cache-control': 'max-age=60', age: '50' }, 10, false],
    ['an old Date is taken off', { 'cache-control': 'max-age=60', date: expires(-50) }, 11, false],
    ['names in any case', { 'cache-control': 'MAX-AGE=60' }, 30, true],
    ['several lines', { 'cache-control': ['public', 'max-age=60'] }, 30, true],
    ['the first of two', { 'cache-control': 'max-age=60, max-age=5' }, 30, true],
    ['a quoted number', { 'cache-control': 'max-age="60"' }, 30, true],
    ['a directive inside of quotes is none', { 'cache-control': 'ext="a, no-store", max-age=60' }, 30, true],
    ['max-age that is no number', { 'cache-control': 'max-age=soon' }, 0, false, { default_ttl: 60 }],
    ['a negative max-age', { 'cache-control': 'max-age=-5' }, 0, false, { default_ttl: 60 }],
    ['a number past all bounds', { 'cache-control': 'max-age=99999999999999999999' }, 80_000, true],
    ['no heuristics', { 'last-modified': expires(-100_000) }, 0, false],
    ['default_ttl', {}, 59, true, { default_ttl: 60 }],
    ['default_ttl has passed', {}, 60, false, { default_ttl: 60 }],
    ['what the response says before default_ttl', { 'cache-control': 'max-age=1' }, 30, false, { default_ttl: 60 }],
    ['max_ttl', { 'cache-control': 'max-age=600' }, 61, false, { max_ttl: 60 }],
    ['no-cache is asked each time', { 'cache-control': 'max-age=60, no-cache', etag: '"1"' }, 0, false],
  ])('%s', async (_what, headers, after, reused, rules = {}) => {
    expect(await new Rig(rules).reuses({ headers }, after)).toBe(reused);
  });

  it('says the age at each answer, with what it had when it arrived', async () => {
    const rig = new Rig();
    await rig.send({}, { headers: { 'cache-control': 'max-age=60', age: '5' } });
    expect((await rig.pass(7).send({})).headers).toMatchObject({ age: '12', 'cache-status': 'gw;hit;ttl=48' });
  });
});

describe('validation', () => {
  const tagged = { headers: { 'cache-control': 'max-age=10', etag: '"1"', 'x-kind': 'old' }, body: 'book' };

  it('asks with the stored validators, and renews what is stored by the 304', async () => {
    const rig = new Rig();
    await rig.send({}, { ...tagged, headers: { ...tagged.headers, 'last-modified': httpDate(START) } });
    const not = { status: 304, headers: { 'cache-control': 'max-age=20', 'x-kind': 'new', etag: '"1"' }, body: '' };
    const asked = await rig.pass(11).send({}, not);
    expect(asked.asked?.headers).toMatchObject({ 'if-none-match': '"1"', 'if-modified-since': httpDate(START) });
    expect(asked).toMatchObject({ status: 200, body: 'book', headers: { 'x-kind': 'new', age: '0' } });
    expect(asked.headers['cache-status']).toBe('gw;fwd=stale;fwd-status=304;stored;ttl=20');
    expect(await rig.pass(19).send({})).toMatchObject({ status: 200, body: 'book', asked: null });
  });

  it('takes another response in the place of what is stored', async () => {
    const rig = new Rig();
    await rig.send({}, tagged);
    await rig.pass(11).send({}, { ...tagged, body: 'another book' });
    expect(await rig.send({})).toMatchObject({ body: 'another book', asked: null });
  });

  it('asks no more where keep_stale has passed', async () => {
    const rig = new Rig({ keep_stale: 5 });
    await rig.send({}, tagged);
    expect((await rig.pass(16).send({}, tagged)).asked?.headers).not.toHaveProperty('if-none-match');
  });

  it('forgets nothing of what a 304 forbids to store, but stores no more', async () => {
    const rig = new Rig();
    await rig.send({}, tagged);
    const now = await rig.pass(11).send({}, { status: 304, headers: { 'cache-control': 'private' }, body: '' });
    expect(now).toMatchObject({ status: 200, body: 'book' });
    expect((await rig.send({}, tagged)).asked).not.toBeNull();
  });

  it.each<[string, HeaderRecord, number]>([
    ['the same tag', { 'if-none-match': '"1"' }, 304],
    ['a weak tag', { 'if-none-match': 'W/"1"' }, 304],
    ['one of several', { 'if-none-match': '"0", "1"' }, 304],
    ['any', { 'if-none-match': '*' }, 304],
    ['another tag', { 'if-none-match': '"2"' }, 200],
    ['a tag without quotes', { 'if-none-match': '1' }, 200],
    ['a date since', { 'if-modified-since': httpDate(START) }, 304],
    ['a date before', { 'if-modified-since': httpDate(START - 5_000) }, 200],
    ['no date', { 'if-modified-since': 'yesterday' }, 200],
    ['the tag before the date', { 'if-none-match': '"2"', 'if-modified-since': httpDate(START) }, 200],
  ])('answers a client that has %s', async (_what, headers, status) => {
    const rig = new Rig();
    await rig.send({}, { ...tagged, headers: { ...tagged.headers, 'last-modified': httpDate(START) } });
    const got = await rig.send({ headers });
    expect(got).toMatchObject({ status, asked: null, body: status === 304 ? '' : 'book' });
    expect(got.headers['etag']).toBe('"1"');
    expect(got.headers['x-kind']).toBe(status === 304 ? undefined : 'old');
  });

  it('keeps a client’s own condition from the upstream, whose 304 would not be for all', async () => {
    const rig = new Rig();
    const { asked } = await rig.send({ headers: { 'if-none-match': '"9"' } }, tagged);
    expect(asked?.headers).not.toHaveProperty('if-none-match');
    expect((await rig.send({})).body).toBe('book');
  });
});

describe('clients', () => {
  const origin = { headers: { 'cache-control': 'max-age=60' } };
  it.each<[string, number, boolean, boolean]>([
    ['no-cache', 0, true, false],
    ['max-age=0', 1, true, false],
    ['max-age=30', 20, true, true],
    ['max-age=30', 31, true, false],
    ['min-fresh=20', 45, true, false],
    ['min-fresh=20', 35, true, true],
  ])('with Cache-Control: %s after %d s go past the cache only where they may', async (control, after, always, may) => {
    for (const [rules, reused] of [
      [{}, always],
      [{ client_control: true }, may],
    ] as const) {
      const rig = new Rig(rules);
      await rig.send({}, origin);
      const got = await rig.pass(after).send({ headers: { 'cache-control': control } }, origin);
      expect(got.asked === null).toBe(reused);
    }
  });

  it.each([
    ['max-stale', 'max-age=60', true],
    ['max-stale=10', 'max-age=60', true],
    ['max-stale=4', 'max-age=60', false],
    ['max-stale', 'max-age=60, must-revalidate', false],
  ])('with %s take what is stale, but not %s: %s', async (control, says, reused) => {
    const rig = new Rig({ client_control: true });
    const headers = { 'cache-control': says, etag: '"1"' };
    await rig.send({}, { headers });
    const got = await rig.pass(65).send({ headers: { 'cache-control': control } }, { headers });
    expect(got.asked === null).toBe(reused);
  });

  it('with only-if-cached get 504 where there is nothing', async () => {
    const rig = new Rig();
    const only = { headers: { 'cache-control': 'only-if-cached' } };
    expect(await rig.send(only, origin)).toMatchObject({ status: 504, asked: null });
    await rig.send({}, origin);
    expect(await rig.send(only, origin)).toMatchObject({ status: 200, asked: null });
  });

  it('get HEAD from what is stored for GET, and GET never from HEAD', async () => {
    const rig = new Rig();
    expect((await rig.send({ method: 'HEAD' }, { ...origin, body: '' })).asked).not.toBeNull();
    expect(await rig.send({}, { ...origin, body: 'book' })).toMatchObject({ body: 'book' });
    expect((await rig.send({ method: 'HEAD' })).asked).toBeNull();
  });
});

describe('stale responses (RFC 5861)', () => {
  const says = (control: string) => ({ headers: { 'cache-control': `max-age=10, ${control}` }, body: 'book' });
  const broken = { status: 503, body: 'broken' };

  it.each([
    ['stale-if-error=60', {}, 30, 200],
    ['stale-if-error=60', {}, 80, 503],
    ['stale-if-error=60, must-revalidate', {}, 30, 503],
    ['public', { stale_if_error: 60 }, 30, 200],
    ['public', {}, 30, 503],
  ])('stand in for errors: %s, %j, after %d s: %d', async (control, rules, after, status) => {
    const rig = new Rig(rules);
    await rig.send({}, says(control));
    const got = await rig.pass(after).send({}, broken);
    expect(got).toMatchObject({ status, body: status === 200 ? 'book' : 'broken' });
    if (status === 200) expect(got.headers['cache-status']).toContain('fwd=stale;fwd-status=503');
  });

  it('are given to others while one request validates', async () => {
    const rig = new Rig();
    await rig.send({}, says('stale-while-revalidate=60'));
    rig.pass(20);
    const first = rig.exchange({});
    expect(await rig.cache.lookup(first, null, '')).toBe(false);
    expect(await rig.send({})).toMatchObject({ body: 'book', asked: null });
    first.close();
    expect((await rig.send({}, says('public'))).asked).not.toBeNull();
  });
});
