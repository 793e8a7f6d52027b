import { createHash } from 'node:crypto';
import { type PluginKit, testPlugin } from '@gw/plugin-sdk/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let kit: PluginKit;
beforeAll(async () => {
  kit = await testPlugin(import.meta.dirname);
});
afterAll(() => kit.close());

const keys = [
  { key: 'k-alice', id: 'alice', name: 'Alice, the first', scopes: ['read', 'write'] },
  { key: 'k-bob', id: 'bob' },
];

describe('apikey-auth', () => {
  it('says who the caller is, in headers and context', async () => {
    const { outcome, requestHeaders, context } = await kit.onRequest({
      config: { keys },
      headers: { 'X-API-Key': 'k-alice' },
    });
    expect(outcome).toBe('continue');
    expect(requestHeaders).toEqual({
      'x-api-key': 'k-alice',
      'x-auth-consumer': 'alice',
      'x-auth-consumer-groups': 'read,write',
      'x-auth-key-id': 'alice',
      'x-auth-key-name': 'Alice, the first',
      'x-auth-key-scopes': 'read,write',
    });
    expect(context).toEqual({ 'auth.consumer': 'alice' });
  });

  it('sets all five headers where the entry has neither name nor scopes', async () => {
    const { requestHeaders } = await kit.onRequest({ config: { keys }, headers: { 'x-api-key': 'k-bob' } });
    expect(requestHeaders).toMatchObject({
      'x-auth-consumer': 'bob',
      'x-auth-consumer-groups': '',
      'x-auth-key-name': '',
      'x-auth-key-scopes': '',
    });
  });

  it.each([
    ['no key', {}, 'an API key is required'],
    ['an empty key', { 'x-api-key': '' }, 'an API key is required'],
    ['an unknown key', { 'x-api-key': 'k-mallory' }, 'the API key is invalid'],
    ['a part of a key', { 'x-api-key': 'k-alic' }, 'the API key is invalid'],
    ['two keys', { 'x-api-key': ['k-alice', 'k-bob'] }, 'the API key is invalid'],
    ['another case', { 'x-api-key': 'K-ALICE' }, 'the API key is invalid'],
  ])('answers 401 to %s', async (_what, headers, detail) => {
    const { outcome, answer, problem, requestHeaders, logs } = await kit.onRequest({ config: { keys }, headers });
    expect(outcome).toBe('answered');
    expect(answer?.status).toBe(401);
    expect(answer?.headers['content-type']).toBe('application/problem+json');
    expect(answer?.headers['www-authenticate']).toBe('ApiKey realm="api", in="header", name="X-API-Key"');
    expect(problem).toEqual({ type: 'urn:gw:error:unauthorized', title: 'Unauthorized', status: 401, detail });
    expect(requestHeaders).not.toHaveProperty('x-auth-consumer');
    expect(logs).toEqual([]);
  });

  it('takes the key from another header', async () => {
    const config = { keys, header_name: 'X-Token' };
    expect((await kit.onRequest({ config, headers: { 'x-token': 'k-bob' } })).outcome).toBe('continue');
    expect((await kit.onRequest({ config, headers: { 'x-api-key': 'k-bob' } })).outcome).toBe('answered');
  });

  it('takes the key from the query, and takes it out of what the upstream gets', async () => {
    const config = { keys, key_location: 'query' };
    const ok = await kit.onRequest({ config, path: '/a?x=1&api%5Fkey=k%2Dbob&y=a+b' });
    expect(ok.outcome).toBe('continue');
    expect(ok.query).toBe('x=1&y=a+b');
    const only = await kit.onRequest({ config: { ...config, query_param: 'k' }, path: '/a?k=k-bob' });
    expect(only.query).toBeUndefined();
    const none = await kit.onRequest({ config, path: '/a?x=1', headers: { 'x-api-key': 'k-bob' } });
    expect(none.answer?.headers['www-authenticate']).toBe('ApiKey realm="api", in="query", name="api_key"');
  });

  it('leaves the key in a header and takes it out of the query, or as strip_credentials says', async () => {
    const header = { 'x-api-key': 'k-bob' };
    const stripped = await kit.onRequest({ config: { keys, strip_credentials: true }, headers: header });
    expect(stripped.outcome).toBe('continue');
    expect(stripped.requestHeaders).not.toHaveProperty('x-api-key');
    const config = { keys, key_location: 'query', strip_credentials: false };
    expect((await kit.onRequest({ config, path: '/a?api_key=k-bob' })).query).toBe('api_key=k-bob');
  });

  it('finds keys by their sha256, and never by the hash itself', async () => {
    const hex = createHash('sha256').update('schlüssel').digest('hex');
    for (const key of [`sha256:${hex}`, `sha256:${hex.toUpperCase()}`]) {
      const config = { keys: [{ key, id: 'hashed' }, ...keys] };
      const found = await kit.onRequest({
        config,
        headers: { 'x-api-key': Buffer.from('schlüssel').toString('latin1') },
      });
      expect(found.requestHeaders['x-auth-consumer']).toBe('hashed');
      expect((await kit.onRequest({ config, headers: { 'x-api-key': 'k-bob' } })).outcome).toBe('continue');
      for (const wrong of [key, hex, `sha256:${hex}`]) {
        expect((await kit.onRequest({ config, headers: { 'x-api-key': wrong } })).answer?.status).toBe(401);
      }
    }
  });

  it('refuses the same key twice, hashed once; and hashes of passwords', async () => {
    const hash = `sha256:${createHash('sha256').update('k-bob').digest('hex')}`;
    await expect(kit.bind({ keys: [...keys, { key: hash, id: 'c' }] })).rejects.toThrow(/keys\/2 has the same key as/);
    const argon2 = '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc';
    await expect(kit.bind({ keys: [{ key: argon2, id: 'c' }] })).rejects.toThrow(/gw hash --algorithm sha256/);
  });

  it('percent-encodes what is not ASCII, percent signs, and commas within scopes', async () => {
    const odd = [{ key: 'k', id: 'zoë', name: 'Zoë 100%', scopes: ['a,b', 'größe'] }];
    const { requestHeaders } = await kit.onRequest({ config: { keys: odd }, headers: { 'x-api-key': 'k' } });
    expect(requestHeaders['x-auth-consumer']).toBe('zo%C3%AB');
    expect(requestHeaders['x-auth-key-name']).toBe('Zo%C3%AB 100%25');
    expect(requestHeaders['x-auth-consumer-groups']).toBe('a%2Cb,gr%C3%B6%C3%9Fe');
  });

  it('finds a key beyond ASCII, as HTTP hands over its UTF-8', async () => {
    const config = { keys: [{ key: 'schlüssel', id: 'x' }] };
    const headers = { 'x-api-key': Buffer.from('schlüssel').toString('latin1') };
    expect((await kit.onRequest({ config, headers })).outcome).toBe('continue');
  });

  it('finds any of 10,000 keys', async () => {
    const many = Array.from({ length: 10_000 }, (_, i) => ({ key: `key-${i}`, id: `id-${i}`, scopes: [`s${i}`] }));
    for (const i of [0, 63, 64, 9_999]) {
      const { requestHeaders } = await kit.onRequest({ config: { keys: many }, headers: { 'x-api-key': `key-${i}` } });
      expect(requestHeaders).toMatchObject({ 'x-auth-consumer': `id-${i}`, 'x-auth-key-scopes': `s${i}` });
    }
  });

  it('lets nobody in without keys', async () => {
    expect((await kit.onRequest({ headers: { 'x-api-key': '' } })).answer?.status).toBe(401);
  });

  it.each([
    ['an empty key', [{ key: '', id: 'a' }]],
    ['no key', [{ id: 'a' }]],
    ['no id', [{ key: 'k' }]],
    [
      'a key twice',
      [
        { key: 'k', id: 'a' },
        { key: 'k', id: 'b' },
      ],
    ],
  ])('refuses a table with %s', async (_what, bad) => {
    await expect(kit.bind({ keys: bad })).rejects.toThrow();
  });
});
