/** Whose credential was refused, and that clients of the surfaces can read who says so, whichever plugin it was. */
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventsOf, type ScriptedProvider, startScriptedProvider } from '../../../../test/ai/scripted-provider.ts';
import { eventually } from '../../../../test/eventually.ts';
import { type Gateway, jsonOf } from '../../../../test/serve/gateway.ts';
import { auth, ENV, operation, startCached } from './ai-cached-project.ts';

let provider: ScriptedProvider;
let gw: Gateway;
const PATHS = ['/v1/chat/completions', '/v1/responses', '/v1/embeddings', '/v1/messages'];
beforeAll(async () => {
  provider = await startScriptedProvider();
  const target = (path: string) => ({
    provider: path === '/v1/messages' ? 'provider_messages' : 'provider_chat',
    base_url: provider.url,
    fallback: [{ provider: 'provider_local', base_url: provider.url }],
  });
  const limit = { name: 'rate-limit', config: { quota: 1, window: 3600 } };
  const denied = {
    name: 'cel',
    config: { expression: 'true', on_match: { deny: { status: 451, code: 'no', message: 'No.' } } },
  };
  const under = (prefix: string, middlewares: readonly object[]) =>
    PATHS.map((path) => [`${prefix}${path}`, operation(target(path), middlewares)]);
  gw = await startCached({
    ...Object.fromEntries([...under('', []), ...under('/keyed', [auth]), ...under('/limited', [limit])]),
    ...Object.fromEntries(under('/denied', [denied])),
    '/other': {
      post: { ...operation({}, [auth]).post, 'x-gw-dispatch': { name: 'mock', config: { body: '{}' } } },
    },
  });
});
afterAll(async () => {
  expect(await gw.stop()).toBe(0);
  await provider.close();
});

const asked = (model: string) => ({
  ...{ model, max_tokens: 9, input: 'Hello', messages: [{ role: 'user' as const, content: 'Hello' }] },
});
const send = (path: string, body: object | string, headers: object = {}) =>
  fetch(gw.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

const masked = {
  message: 'Incorrect API key provided: sk-ac****4242.',
  type: 'invalid_request_error',
  code: 'invalid_api_key',
};

describe('a provider that refuses the credential of the gateway', () => {
  it.each(
    PATHS.flatMap((path) =>
      [401, 407].flatMap((status) => [false, true].map((stream) => [path, status, stream] as const)),
    ),
  )('is no 401 of the client, and says nothing of the key: %s, %d, stream %s', async (path, status, stream) => {
    const model = `${path} ${status} ${stream}`;
    provider.answers(model, { status, body: JSON.stringify({ error: masked }) });
    const response = await send(path, { ...asked(model), ...(path === '/v1/embeddings' ? {} : { stream }) });
    const text = await response.text();
    expect(response.status).toBe(502);
    expect(JSON.parse(text)).toMatchObject({
      code: 'provider_credential_refused',
      error: { message: expect.any(String) },
    });
    expect(text).not.toContain('4242');
    // A 4xx of the provider asks no fallback.
    expect(provider.requests(model)).toHaveLength(1);
    await eventually(() => JSON.stringify(gw.log).includes(`refuses the credential of the gateway: ${status}`));
  });

  it('says so under status 200, or as the first event of a stream', async () => {
    const body = JSON.stringify({ error: { ...masked, code: 401 } });
    provider.answers('reported', { body });
    provider.answers('streamed', { body: eventsOf(body) });
    for (const [model, stream] of [
      ['reported', false],
      ['streamed', true],
    ] as const) {
      const response = await send('/v1/chat/completions', { ...asked(model), stream });
      expect([response.status, (await jsonOf(response))['code']]).toEqual([502, 'provider_credential_refused']);
    }
  });
});

describe('a refusal before ai-proxy', () => {
  it.each(PATHS)('has what clients of the surface read: %s', async (path) => {
    const ofMessages = path === '/v1/messages';
    const twice = '{"model":"a","model":"b"}';
    await send(`/limited${path}`, asked('none'));
    for (const [prefix, body, status, type] of [
      ['/keyed', asked('none'), 401, 'authentication_error'],
      ['/denied', asked('none'), 451, 'invalid_request_error'],
      ['/limited', asked('none'), 429, 'rate_limit_error'],
      ['', twice, 400, 'invalid_request_error'],
      ['', '{', 400, 'invalid_request_error'],
      ['', JSON.stringify({ ...asked('none'), more: 'x'.repeat(2 << 20) }), 413, 'invalid_request_error'],
    ] as const) {
      const response = await send(prefix + path, body);
      const answer = await jsonOf(response);
      expect([prefix, response.status]).toEqual([
        prefix,
        [413, 400].includes(response.status) ? response.status : status,
      ]);
      expect(answer).toMatchObject({ error: { type, message: answer['detail'] ?? answer['title'] } });
      expect(answer['type'] === 'error').toBe(ofMessages);
      expect(response.headers.get('content-type')).toBe('application/problem+json');
    }
  });

  it('is one of their own errors to the official clients', async () => {
    const openai = new OpenAI({ baseURL: `${gw.url}/keyed/v1`, apiKey: 'unused', maxRetries: 0 });
    const anthropic = new Anthropic({ baseURL: `${gw.url}/keyed`, apiKey: null, authToken: 'unused', maxRetries: 0 });
    const { input: _, ...chat } = asked('none');
    await expect(openai.chat.completions.create(chat)).rejects.toThrow(/^401 [A-Z].* key/i);
    const refusal = await anthropic.messages.create(chat).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(Anthropic.AuthenticationError);
    expect(refusal).toMatchObject({ error: { type: 'error', error: { type: 'authentication_error' } } });
  });

  it('is a problem document alone before other dispatchers', async () => {
    const answer = await jsonOf(await send('/other', {}));
    expect([answer['status'], 'error' in answer]).toEqual([401, false]);
    expect((await send('/other', {}, { 'x-api-key': ENV.ANN_KEY })).status).toBe(200);
  });
});
