/** HTTP calls of plugins under test: stubs answer them, and nothing else does. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HttpStub, type PluginKit, testPlugin, UnstubbedHttpCall } from './index.ts';

const CALLER = join(import.meta.dirname, '../../../test/fixtures/plugins/caller');
const url = 'https://tenants.example/v1/acme?full=1';

let kit: PluginKit;
beforeAll(async () => {
  kit = await testPlugin(CALLER);
});
afterAll(() => kit.close());

const dispatch = (httpCalls: readonly HttpStub[], config: object = {}, method = 'POST') =>
  kit.dispatch({ config: { url, ...config }, method, body: 'sent', httpCalls });

describe('HTTP calls under test', () => {
  it('get the answer of the stub that matches method and URL', async () => {
    const other = { url: 'https://tenants.example/v1/other', json: 1 };
    const get = { method: 'GET', url, json: 2 };
    const { answer, httpCalls, unusedStubs } = await dispatch([
      other,
      get,
      { method: 'post', url, status: 201, json: { plan: 'gold' }, headers: { 'X-A': ['1', '2'] } },
    ]);
    expect(answer).toMatchObject({
      status: 201,
      headers: { 'content-type': 'application/json' },
      body: '{"plan":"gold"}',
    });
    expect(httpCalls).toEqual([
      { method: 'POST', url, headers: { authorization: 'Bearer of-the-gateway', 'x-more': '1' }, body: 'sent' },
    ]);
    expect(unusedStubs).toEqual([other, get]);
  });

  it('match a URL without a query whatever theirs is, and in any notation', async () => {
    expect((await dispatch([{ url: 'HTTPS://TENANTS.example:443/v1/acme', body: 'a' }])).answer?.body).toBe('a');
    await expect(dispatch([{ url: 'https://tenants.example/v1/acme?full=2' }])).rejects.toThrow(UnstubbedHttpCall);
    await expect(dispatch([{ url: 'http://tenants.example/v1/acme' }])).rejects.toThrow(UnstubbedHttpCall);
  });

  it('reject without a stub, with the URL and what to add, and reach no network', async () => {
    const failure = await dispatch([]).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(UnstubbedHttpCall);
    expect(failure).toMatchObject({
      message: expect.stringContaining(`POST ${url}, and no stub matches it: add { url: '${url}', status: 200`),
      call: { method: 'POST', url },
      result: { answer: { status: 502, body: expect.stringContaining('-3') } },
    });
  });

  it('use stubs of one URL in order, and the last again', async () => {
    const answers = [
      { url, status: 503 },
      { url, status: 200, body: 'then' },
    ];
    const { answer, httpCalls } = await dispatch(answers);
    expect([answer?.status, httpCalls.length]).toEqual([503, 1]);
    const redirected = await dispatch(
      [
        { url, status: 302, headers: { location: '/v1/acme?full=1' } },
        { url, status: 307, headers: { Location: '/v2' } },
        { url: 'https://tenants.example/v2', body: 'here' },
      ],
      { redirects: 3 },
    );
    expect(redirected.answer?.body).toBe('here');
    expect(redirected.httpCalls.map((call) => `${call.method} ${new URL(call.url).pathname}`)).toEqual([
      'POST /v1/acme',
      'GET /v1/acme',
      'GET /v2',
    ]);
  });

  it.each([
    ['failed', -1],
    ['timeout', -2],
    ['refused', -3],
    ['too-large', -4],
    ['no-room', -5],
  ] as const)('fail as the stub says: %s', async (fails, result) => {
    expect((await dispatch([{ url, fails }])).answer?.body).toContain(`"${result}"`);
  });

  it('keep to the limit of the call, and end a loop of calls', async () => {
    expect((await dispatch([{ url, body: 'x'.repeat(11) }], { max_bytes: 10 })).answer?.body).toContain('"-4"');
    const looped = await dispatch([{ url }], { again: 1 });
    expect(looped.logs.at(-1)?.message).toContain('CPU time');
  });

  it('are refused as the gateway refuses them, also with a stub', async () => {
    for (const bad of ['ftp://a/', 'https://user:pass@tenants.example/', 'nothing']) {
      expect((await dispatch([{ url }], { url: bad })).answer?.body).toContain('"-3"');
    }
    await expect(dispatch([{ url: '/v1' }])).rejects.toThrow('"/v1" is not an absolute URL');
  });

  it('reach real servers if the kit is told so', async () => {
    const server = createServer((_, response) => response.end('real'));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const online = await testPlugin(CALLER, { network: true });
    const config = { url: `http://127.0.0.1:${port}/` };
    expect((await online.dispatch({ config })).answer?.body).toBe('real');
    expect(await kit.dispatch({ config }).catch((error: unknown) => error)).toBeInstanceOf(UnstubbedHttpCall);
    online.close();
    server.close();
  });
});
