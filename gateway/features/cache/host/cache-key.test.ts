/** Which requests get the same stored response, and which never do (RFC 9111, section 4.1). */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { propertyRuns } from '../../../../test/property-runs.ts';
import { Rig, type Sent } from '../../../../test/response-cache-rig.ts';
import type { HeaderRecord } from '../../../sdk/testing/kit.ts';

describe('the key', () => {
  const origin = { headers: { 'cache-control': 'max-age=60' } };
  const apart =
    (a: Sent, b: Sent, rules = {}) =>
    async () => {
      const rig = new Rig(rules);
      rig.admitted = ['x-tenant', 'x-trace-*', 'authorization'];
      await rig.send(a, origin);
      expect((await rig.send(b, origin)).asked).not.toBeNull();
    };
  const same =
    (a: Sent, b: Sent, rules = {}) =>
    async () => {
      const rig = new Rig(rules);
      rig.admitted = ['x-tenant', 'x-trace-*'];
      await rig.send(a, origin);
      expect((await rig.send(b, origin)).asked).toBeNull();
    };
  const by = (headers: HeaderRecord): Sent => ({ headers });

  it('keeps paths apart', apart({ path: '/a' }, { path: '/b' }));
  it('keeps the case of paths apart', apart({ path: '/a' }, { path: '/A' }));
  it('keeps an encoded slash apart', apart({ path: '/a/b' }, { path: '/a%2Fb' }));
  it('keeps an encoded question mark apart', apart({ path: '/a%3Fx=1' }, { path: '/a?x=1' }));
  it('keeps an empty query apart from none', apart({ path: '/a?' }, { path: '/a' }));
  it('keeps the order of one name', apart({ path: '/a?x=1&x=2' }, { path: '/a?x=2&x=1' }));
  it('keeps how often a name comes', apart({ path: '/a?x=1' }, { path: '/a?x=1&x=1' }));
  it('keeps encoded separators in values', apart({ path: '/a?x=1%26y=2' }, { path: '/a?x=1&y=2' }));
  it('keeps an encoded equals sign', apart({ path: '/a?x%3D1' }, { path: '/a?x=1' }));
  it('keeps hosts apart', apart(by({ host: 'a.example' }), by({ host: 'b.example' })));
  it('keeps X-Forwarded-Host', apart({}, by({ 'x-forwarded-host': 'evil.example' })));
  it('keeps X-Forwarded-Proto', apart({}, by({ 'x-forwarded-proto': 'http' })));
  it('keeps the host of Forwarded', apart({}, by({ forwarded: 'for=1.2.3.4;host=evil.example' })));
  it(
    'takes the client of Forwarded for nothing',
    same(by({ forwarded: 'for=1.2.3.4' }), by({ forwarded: 'for=5.6.7.8' })),
  );
  it('keeps headers that the operation admits', apart(by({ 'x-tenant': 'a' }), by({ 'x-tenant': 'b' })));
  it('keeps those that it admits by a prefix', apart({}, by({ 'x-trace-mode': 'b' })));
  it('keeps one header from reading as another', apart(by({ 'x-trace-a': 'b' }), by({ 'x-trace-b': 'b' })));
  it('leaves out what is ignored', same({}, by({ 'X-Tenant': 'b' }), { ignore_headers: ['X-Tenant'] }));
  it('keeps headers of vary', apart(by({ accept: 'a' }), by({ accept: 'b' }), { vary: ['Accept'] }));
  it('keeps blanks in headers of vary', apart(by({ 'x-a': 'a,b' }), by({ 'x-a': 'a, b' }), { vary: ['X-A'] }));
  it('keeps no blanks in lists', same(by({ accept: 'a,b' }), by({ accept: 'a, b' }), { vary: ['Accept'] }));
  it('has parameters in any order', same({ path: '/a?x=1&y=2' }, { path: '/a?y=2&x=1' }));
  it('has hosts in any case', same(by({ host: 'A.example' }), by({ host: 'a.Example' })));
  it(
    'has what is ignored',
    same({ path: '/a?x=1&utm_a=1' }, { path: '/a?utm_b=2&x=1' }, { ignore_query_parameters: ['utm_*'] }),
  );
  it(
    'knows ignored names encoded, too',
    same({ path: '/a' }, { path: '/a?ut%6d=1' }, { ignore_query_parameters: ['utm'] }),
  );
  it('has only what is named', same({ path: '/a?x=1' }, { path: '/a?y=2&x=1' }, { query_parameters: ['x'] }));

  it('says nothing to the upstream that is not part of it: parameters that are left out do not arrive', async () => {
    const rig = new Rig({ ignore_query_parameters: ['utm_*'] });
    const { asked } = await rig.send({ path: '/a?utm_x=<script>&b=2&&a=1&a=0' }, origin);
    expect(asked?.query).toBe('a=1&a=0&b=2');
  });

  it('is another for queries that differ in more than the order of their names', async () => {
    const pair = fc.tuple(fc.constantFrom('a', 'b', 'c%20', ''), fc.constantFrom('1', '2', '%26', 'a=1'));
    const query = fc.array(
      pair.map(([name, value]) => `${name}=${value}`),
      { maxLength: 5 },
    );
    await fc.assert(
      fc.asyncProperty(query, query, async (a, b) => {
        const rig = new Rig();
        const sorted = (pairs: readonly string[]) =>
          [...pairs].sort((x, y) => (x.split('=')[0] as string).localeCompare(y.split('=')[0] as string));
        await rig.send({ path: `/q?z=0&${a.join('&')}` }, origin);
        const second = await rig.send({ path: `/q?z=0&${b.join('&')}` }, origin);
        expect(second.asked === null).toBe(JSON.stringify(sorted(a)) === JSON.stringify(sorted(b)));
      }),
      propertyRuns(200),
    );
  });
});

describe('Vary', () => {
  const origin = (vary: string, body = 'body') => ({ headers: { 'cache-control': 'max-age=60', vary }, body });

  it('has a response for each value, and finds each again', async () => {
    const rig = new Rig();
    const speaks = (language: string) => ({ headers: { 'accept-language': language } });
    await rig.send(speaks('de'), origin('Accept-Language', 'Buch'));
    const second = await rig.send(speaks('en'), origin('Accept-Language', 'book'));
    expect(second.headers['cache-status']).toBe('gw;fwd=vary-miss;stored');
    expect(await rig.send(speaks('de'))).toMatchObject({ body: 'Buch', asked: null });
    expect(await rig.send(speaks('en'))).toMatchObject({ body: 'book', asked: null });
    expect((await rig.send({}, origin('Accept-Language'))).asked).not.toBeNull();
  });

  it('takes spaces, and the order of codings, for nothing', async () => {
    const rig = new Rig();
    await rig.send({ headers: { 'accept-encoding': 'gzip, br' } }, origin('accept-encoding'));
    expect((await rig.send({ headers: { 'accept-encoding': 'BR,gzip' } })).asked).toBeNull();
  });

  it.each<[string, HeaderRecord, HeaderRecord]>([
    ['content codings', { 'content-encoding': 'gzip' }, { 'accept-encoding': 'gzip' }],
    ['origins', { 'access-control-allow-origin': 'https://a.example' }, { origin: 'https://a.example' }],
  ])('is complete for %s where the upstream forgets it', async (_what, shows, request) => {
    const rig = new Rig();
    const response = { headers: { 'cache-control': 'max-age=60', ...shows } };
    await rig.send({ headers: request }, response);
    expect((await rig.send({}, response)).asked).not.toBeNull();
    expect((await rig.send({ headers: request })).asked).toBeNull();
  });

  it('keeps no more variants of a URL than it may, whatever clients send', async () => {
    const rig = new Rig({ max_variants: 4 });
    const as = (agent: number) => ({ headers: { 'user-agent': String(agent) } });
    for (let i = 0; i < 8; i++) await rig.send(as(i), origin('user-agent'));
    const { bytes } = rig.store;
    for (let i = 8; i < 200; i++) await rig.send(as(i), origin('user-agent'));
    expect(rig.store.bytes).toBeLessThan(bytes * 1.2);
    expect((await rig.send(as(199))).asked).toBeNull();
    expect((await rig.send(as(100), origin('user-agent'))).asked).not.toBeNull();
  });

  it.each<[string, (i: number) => HeaderRecord, object]>([
    ['vary of the config', (i) => ({ accept: `text/${i}` }), { vary: ['Accept'] }],
    ['headers that the operation admits', (i) => ({ 'x-tenant': String(i) }), {}],
    ['hosts that a proxy says', (i) => ({ 'x-forwarded-host': `${i}.example` }), {}],
    ['Vary beside them', (i) => ({ accept: `text/${i}`, 'user-agent': String(i) }), { vary: ['Accept'] }],
  ])(
    'keeps no more responses of a URL by %s than max_variants, also of requests at once',
    async (_, headers, rules) => {
      const rig = new Rig({ max_variants: 4, ...rules });
      rig.admitted = ['x-tenant'];
      const send = (i: number) => rig.send({ headers: headers(i) }, origin('user-agent'));
      for (let i = 0; i < 8; i++) await send(i);
      const { bytes } = rig.store;
      await Promise.all(Array.from({ length: 100 }, (_, i) => send(8 + i)));
      for (let i = 108; i < 200; i++) await send(i);
      expect(rig.store.bytes).toBeLessThan(bytes * 1.2);
      expect((await rig.send({ headers: headers(199) })).asked).toBeNull();
      expect((await send(100)).asked).not.toBeNull();
    },
  );

  it.each(['192.0.2.66', '2001:db8::66'])(
    'leaves others their variants, however many the client %s stores',
    async (greedy) => {
      const rig = new Rig({ max_variants: 8 });
      const speaks = (language: string, clientIp: string) =>
        rig.send({ headers: { 'accept-language': language }, clientIp }, origin('accept-language'));
      const [own, others] = [
        ['de', 'en', 'fr'],
        ['it', 'nl'],
      ];
      for (const each of own) await speaks(each, '192.0.2.1');
      for (const each of others) await speaks(each, '192.0.2.2');
      for (let i = 0; i < 40; i++) await speaks(`x-${i}`, greedy);
      for (const each of [...own, ...others]) expect((await speaks(each, '192.0.2.3')).asked).toBeNull();
      expect((await speaks('x-39', greedy)).asked).toBeNull();
      expect((await speaks('x-0', greedy)).asked).not.toBeNull();
    },
  );

  it('takes the oldest variant of all if every client has one', async () => {
    const rig = new Rig({ max_variants: 4 });
    const speaks = (client: number) =>
      rig.send(
        { headers: { 'accept-language': `x-${client}` }, clientIp: `192.0.2.${client}` },
        origin('accept-language'),
      );
    for (let client = 1; client <= 5; client++) await speaks(client);
    for (let client = 2; client <= 5; client++) expect((await speaks(client)).asked).toBeNull();
    expect((await speaks(1)).asked).not.toBeNull();
  });

  it('of several responses of a URL counts together', async () => {
    const rig = new Rig();
    await rig.send({ headers: { accept: 'a', origin: 'x' } }, origin('accept'));
    await rig.send({ headers: { accept: 'b', origin: 'x' } }, origin('origin'));
    expect((await rig.send({ headers: { accept: 'c', origin: 'x' } }, origin('origin'))).asked).not.toBeNull();
    expect((await rig.send({ headers: { accept: 'b', origin: 'x' } })).asked).toBeNull();
  });
});
