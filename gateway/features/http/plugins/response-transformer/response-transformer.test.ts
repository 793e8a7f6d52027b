import { type PluginKit, testPlugin } from '@gw/plugin-sdk/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let kit: PluginKit;
beforeAll(async () => {
  kit = await testPlugin(import.meta.dirname);
});
afterAll(() => kit.close());

type Asked = Parameters<PluginKit['onResponse']>[0];
const after = (config: NonNullable<Asked['config']>, response: Asked['response'], request: Partial<Asked> = {}) =>
  kit.onResponse({ config, response, ...request });
const json = { 'content-type': 'application/json' };

describe('response-transformer', () => {
  it('removes, renames, sets and adds headers, in this order', async () => {
    const headers = {
      add: { Link: '</b>', 'X-New': '1' },
      set: { 'Cache-Control': 'no-store', 'X-Path': '{{request.path}}' },
      rename: [{ from: 'X-Old', to: 'X-Now' }],
      remove: ['X-Powered-By'],
    };
    const given = { 'x-powered-by': 'x', 'x-old': 'v', 'cache-control': 'public', link: '</a>' };
    const { outcome, response } = await after({ headers }, { status: 200, headers: given }, { path: '/p?q=1' });
    expect(outcome).toBe('continue');
    expect(response.headers).toEqual({
      link: '</a>, </b>',
      'x-now': 'v',
      'cache-control': 'no-store',
      'x-path': '/p',
      'x-new': '1',
    });
  });

  it('does not make a change whose value the request does not have', async () => {
    const { response } = await after({ headers: { set: { 'x-a': '{{headers.x-b}}' } } }, { status: 200 });
    expect(response.headers).toEqual({});
  });

  it('changes JSON bodies, and drops what was true of the old one', async () => {
    const body = { remove: ['/internal'], set: { '/self': '{{request.path}}' } };
    const headers = { ...json, etag: '"1"', 'content-digest': 'sha-256=:x:', 'accept-ranges': 'bytes', 'x-a': 'b' };
    const text = '{"id":1,"internal":{"key":"secret"}}';
    const { response } = await after({ body }, { status: 200, headers, body: text }, { path: '/things/1' });
    expect(response).toEqual({
      status: 200,
      headers: { ...json, 'x-a': 'b' },
      body: '{"id":1,"self":"/things/1"}',
    });
  });

  it('leaves other bodies and empty ones alone', async () => {
    const body = { remove: ['/a'] };
    const plain = { status: 200, headers: { 'content-type': 'text/html', etag: '"1"' }, body: '{"a":1}' };
    expect((await after({ body }, plain)).response).toEqual(plain);
    const empty = { status: 304, headers: { ...json, etag: '"1"' }, body: '' };
    expect((await after({ body }, empty)).response).toEqual(empty);
  });

  it.each([
    ['no JSON', { ...json }, '{"secret":1'],
    ['compressed', { ...json, 'content-encoding': 'gzip' }, 'x'],
    ['too large', { ...json }, `{"a":"${'x'.repeat(6 << 20)}"}`],
  ])('sends nothing of a JSON response that is %s', async (_what, headers, text) => {
    const { outcome, problem } = await after({ body: { remove: ['/secret'] } }, { status: 200, headers, body: text });
    expect(outcome).toBe('answered');
    expect(problem).toMatchObject({ type: 'urn:gw:error:upstream-failed', title: 'Bad gateway', status: 502 });
  });

  it('asks the upstream for the whole body as it is, where it is to change it', async () => {
    const headers = { 'accept-encoding': 'gzip', range: 'bytes=0-1', 'if-range': '"1"', accept: '*/*' };
    const { requestHeaders } = await kit.onRequest({ config: { body: { remove: ['/a'] } }, headers });
    expect(requestHeaders).toEqual({ accept: '*/*' });
    expect((await kit.onRequest({ headers })).requestHeaders).toEqual(headers);
  });

  it('needs the body of responses only where it changes it', async () => {
    expect((await kit.bind({})).buffersResponse).toBe(false);
    expect((await kit.bind({ headers: { remove: ['x-a'] } })).buffersResponse).toBe(false);
    expect((await kit.bind({ body: { remove: ['/a'] } })).buffersResponse).toBe(true);
  });

  it.each([
    'Content-Length',
    'connection',
    'Transfer-Encoding',
    'Server',
    'X-Request-Id',
    'x-frame-options',
    'x-auth-sub',
  ])('does not compile with the header %s', async (name) => {
    for (const changes of [{ remove: [name] }, { set: { [name]: 'x' } }, { rename: [{ from: 'x-a', to: name }] }]) {
      await expect(kit.bind({ headers: changes })).rejects.toThrow(/schema/);
    }
  });

  it('renames no Set-Cookie', async () => {
    await expect(kit.bind({ headers: { rename: [{ from: 'Set-Cookie', to: 'x-a' }] } })).rejects.toThrow(/schema/);
  });
});
