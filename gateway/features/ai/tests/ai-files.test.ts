/** Files and batches, which ai-proxy and the policies before it refuse, through a real `gw serve` with the official client. */
import OpenAI, { BadRequestError } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHAT_KEY, startChatProvider } from '../../../../test/ai/chat-provider.ts';
import type { FakeProvider } from '../../../../test/ai/fake-provider.ts';
import { compileSpec, type Gateway, jsonOf, startGateway } from '../../../../test/serve/gateway.ts';

let gw: Gateway;
let chat: FakeProvider;

const profile = (settings: object) => ({ default_profile: 'all', profiles: { all: settings } });

/** Each policy that stands before ai-proxy on paths of its own. */
const POLICIES: Readonly<Record<string, object>> = {
  'ai-prompt-guard': profile({ max_messages: 9 }),
  'ai-prompt-template': profile({ prepend: [{ role: 'system', content: 'Be brief.' }] }),
  'ai-token-limit': profile({ quota: 1000, window: 60 }),
  'ai-cost-tracker': {
    prices: { '*/*': { prompt: 1, completion: 1 } },
    ...profile({ budgets: [{ limit_usd: 1, period: 'day' }] }),
  },
  'ai-cache': { ttl: 60, share: 'all' },
};
const PREFIXES = ['', ...Object.keys(POLICIES).map((name) => `/${name}`)];
const ENDS = ['files', 'files/{id}', 'files/{id}/content', 'batches', 'batches/{id}', 'batches/{id}/cancel'];

function pathsAt(prefix: string): readonly (readonly [path: string, item: object])[] {
  const policies = Object.entries(POLICIES).filter(([name]) => prefix === `/${name}`);
  const operation = {
    responses: { default: { description: 'any' } },
    'x-gw-middlewares': policies.map(([name, config]) => ({ name, config })),
    'x-gw-dispatch': {
      name: 'ai-proxy',
      config: { provider: 'provider_chat', base_url: chat.url, api_key: 'env://CHAT_KEY' },
    },
  };
  const content = { 'application/json': { schema: {} }, 'multipart/form-data': { schema: {} } };
  const item = { get: operation, delete: operation, post: { ...operation, requestBody: { content } } };
  const parameters = [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }];
  return ENDS.map((end) => [`${prefix}/v1/${end}`, end.includes('{id}') ? { ...item, parameters } : item]);
}

beforeAll(async () => {
  chat = await startChatProvider();
  const paths = Object.fromEntries(PREFIXES.flatMap(pathsAt));
  const document = { openapi: '3.1.0', info: { title: 'files', version: '1' }, paths };
  gw = await startGateway(await compileSpec(document, ['ai-proxy', ...Object.keys(POLICIES)]), { env: { CHAT_KEY } });
});
afterAll(async () => {
  expect(await gw.stop()).toBe(0);
  await chat.close();
});

const clientAt = (prefix: string) => new OpenAI({ apiKey: 'none', baseURL: `${gw.url}${prefix}/v1`, maxRetries: 0 });
const lines = () => new File(['{"custom_id":"1"}\n'], 'lines.jsonl', { type: 'application/jsonl' });

describe.each(PREFIXES)('at %j', (prefix) => {
  it.each<[string, string, (client: OpenAI) => Promise<unknown>]>([
    ['an upload', 'files', (client) => client.files.create({ file: lines(), purpose: 'batch' })],
    ['a list of files', 'files', async (client) => client.files.list()],
    ['a file', 'files', (client) => client.files.retrieve('file-1')],
    ['the content of a file', 'files', (client) => client.files.content('file-1')],
    ['the end of a file', 'files', (client) => client.files.delete('file-1')],
    [
      'a new batch',
      'batches',
      (client) =>
        client.batches.create({
          input_file_id: 'file-1',
          endpoint: '/v1/chat/completions',
          completion_window: '24h',
          // What makes a chat completion of it.
          ...{ model: 'gpt-4o', messages: [{ role: 'user', content: 'Hello' }] },
        }),
    ],
    ['a list of batches', 'batches', async (client) => client.batches.list()],
    ['a batch', 'batches', (client) => client.batches.retrieve('batch_1')],
    ['the end of a batch', 'batches', (client) => client.batches.cancel('batch_1')],
  ])('%s is refused, so that the client library says why, and no provider is asked', async (_, name, ask) => {
    const before = chat.seen.length;
    const refusal = await ask(clientAt(prefix)).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(BadRequestError);
    expect(refusal).toMatchObject({ status: 400, code: `${name}_not_supported`, type: 'invalid_request_error' });
    expect(chat.seen.length).toBe(before);
  });
});

describe('a batch', () => {
  it('is one at a path that is encoded, and no chat completion', async () => {
    const before = chat.seen.length;
    const response = await fetch(`${gw.url}/v1/b%61tches`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'Hello' }] }),
    });
    expect((await jsonOf(response))['code']).toBe('batches_not_supported');
    expect(chat.seen.length).toBe(before);
  });

  it('takes nothing out of a quota', async () => {
    const response = await fetch(`${gw.url}/ai-token-limit/v1/batches`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ input_file_id: 'file-1', max_tokens: 900 }),
    });
    expect(response.headers.get('x-ratelimit-remaining')).toBeNull();
    expect((await jsonOf(response))['code']).toBe('batches_not_supported');
  });
});
