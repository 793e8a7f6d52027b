/** Targets of ai-proxy with several endpoints: how requests are spread, and what becomes of those that fail or rest. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHAT_KEY, startChatProvider } from '../../../../test/ai/chat-provider.ts';
import type { FakeProvider } from '../../../../test/ai/fake-provider.ts';
import { GW } from '../../../../test/programs/gw.ts';
import { compileSpec, type Gateway, jsonOf, startGateway, withGateway } from '../../../../test/serve/gateway.ts';
import { ASKED, dataOf } from './ai-gateway.ts';

let gw: Gateway;
let a: FakeProvider;
let b: FakeProvider;
let spare: FakeProvider;

const operation = (config: object) => ({
  responses: { default: { description: 'any' } },
  requestBody: { content: { 'application/json': { schema: {} } } },
  'x-gw-dispatch': { name: 'ai-proxy', config },
});

beforeAll(async () => {
  [a, b, spare] = await Promise.all([
    startChatProvider(CHAT_KEY, 'a'),
    startChatProvider(CHAT_KEY, 'b'),
    startChatProvider(CHAT_KEY, 'spare'),
  ]);
  const nowhere = { base_url: 'http://127.0.0.1:1' };
  const target = { provider: 'provider_chat', api_key: 'env://CHAT_KEY' };
  const both = [{ base_url: a.url }, { base_url: b.url }];
  const fallback = [{ ...target, base_url: spare.url }];
  const configs: Record<string, object> = {
    '/weighted': { ...target, endpoints: [{ base_url: a.url, weight: 3 }, { base_url: b.url }] },
    '/both': { ...target, endpoints: both, timeout: 2 },
    '/keys': {
      provider: 'provider_chat',
      base_url: a.url,
      endpoints: [{ api_key: 'env://WRONG_KEY' }, { api_key: 'env://CHAT_KEY' }],
    },
    '/cheap': {
      ...target,
      balance: 'cost',
      endpoints: [
        { base_url: b.url, price: 2 },
        { base_url: a.url, price: 1 },
      ],
    },
    '/by-quota': { ...target, balance: 'quota', endpoints: both },
    '/half-dead': { ...target, endpoints: [{ base_url: a.url }, nowhere] },
    '/spared': { ...target, endpoints: both, fallback },
    '/limited-or-dead': { ...target, endpoints: [{ base_url: a.url }, nowhere], fallback },
    '/named': { targets: { one: { ...target, endpoints: both } }, default_target: 'one' },
    '/v1/models': { ...target, endpoints: [nowhere, ...both] },
  };
  const paths = Object.fromEntries(
    Object.entries(configs).map(([path, config]) => [
      path,
      path === '/v1/models' ? { get: operation(config) } : { post: operation(config) },
    ]),
  );
  const document = { openapi: '3.1.0', info: { title: 'models', version: '1' }, paths };
  gw = await startGateway(await compileSpec(document, ['ai-proxy']), { env: { CHAT_KEY, WRONG_KEY: 'sk-wrong' } });
});
afterAll(async () => {
  expect(await gw.stop()).toBe(0);
  await Promise.all([a, b, spare].map((each) => each.close()));
});

const post = (path: string, body: object = {}, url = gw.url) =>
  fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...ASKED, ...body }),
  });

/** How many of them each has had while `work` was done. */
async function askedOf(providers: readonly FakeProvider[], work: () => Promise<unknown>): Promise<readonly number[]> {
  const before = providers.map(({ seen }) => seen.length);
  await work();
  return providers.map(({ seen }, i) => seen.length - (before[i] ?? 0));
}

async function times(count: number, path: string, body: object = {}): Promise<readonly number[]> {
  const statuses: number[] = [];
  for (let i = 0; i < count; i++) {
    const response = await post(path, body);
    statuses.push(response.status);
    await response.text();
  }
  return statuses;
}

describe('requests to a target with endpoints', () => {
  it('are spread by weight', async () => {
    expect(await askedOf([a, b], () => times(12, '/weighted'))).toEqual([9, 3]);
  });

  it('go to the cheapest', async () => {
    expect(await askedOf([a, b], () => times(4, '/cheap'))).toEqual([4, 0]);
  });

  it('go to the next cheapest behind a 429, and for as long as the first rests', async () => {
    const model = 'a:status-429';
    expect(
      await askedOf([a, b], async () => expect(await times(4, '/cheap', { model })).toEqual([200, 200, 200, 200])),
    ).toEqual([1, 4]);
    expect(await askedOf([a, b], () => times(2, '/cheap'))).toEqual([2, 0]);
  });

  it('go to the one that has quota left', async () => {
    const [ofA, ofB] = await askedOf([a, b], () => times(20, '/by-quota', { model: 'b:quota-1' }));
    expect(ofB).toBeGreaterThan(0);
    expect(ofA).toBeGreaterThan(17);
  });

  it('all have answers, many at once, where an endpoint goes away among them', async () => {
    const going = await startChatProvider(CHAT_KEY, 'going');
    const config = {
      provider: 'provider_chat',
      api_key: 'env://CHAT_KEY',
      endpoints: [{ base_url: going.url }, { base_url: a.url }],
    };
    const document = {
      openapi: '3.1.0',
      info: { title: 'models', version: '1' },
      paths: { '/': { post: operation(config) } },
    };
    await withGateway(
      await compileSpec(document, ['ai-proxy']),
      [],
      async (other) => {
        const ask = () =>
          post('/', {}, other.url).then(async (response) => [response.status, (await response.text()).length > 0]);
        let gone: Promise<void> | null = null;
        const clients = Array.from({ length: 20 }, async () => {
          const answers: unknown[] = [];
          for (let i = 0; i < 20; i++) {
            answers.push(await ask());
            if (going.seen.length >= 50) gone ??= going.close();
          }
          return answers;
        });
        expect((await Promise.all(clients)).flat()).toEqual(Array(400).fill([200, true]));
        expect(gone).not.toBeNull();
        await gone;
      },
      { CHAT_KEY },
    );
  });

  it('have the credential of their endpoint', async () => {
    expect((await times(4, '/keys')).toSorted()).toEqual([200, 200, 502, 502]);
  });

  it.each([false, true])(
    'are answered by another where one cannot be reached, and it is passed over then, stream %s',
    async (stream) => {
      expect(await times(20, '/half-dead', { stream })).toEqual(Array(20).fill(200));
    },
  );

  it.each(['status-500', 'garbage', 'half'])('are answered by another where one fails: %s', async (how) => {
    for (const name of ['a', 'b']) expect(await times(2, '/both', { model: `${name}:${how}` })).toEqual([200, 200]);
  });

  it.each(['status-503', 'garbage', 'cut', 'empty'])('stream from another where one fails: %s', async (how) => {
    for (const name of ['a', 'b']) {
      const response = await post('/both', { model: `${name}:${how}`, stream: true });
      expect(response.status).toBe(200);
      expect(dataOf(await response.text()).at(-1)).toBe('[DONE]');
    }
  });

  it('have one time-out for all endpoints', async () => {
    const asked = await askedOf([a, b], async () =>
      expect(await times(1, '/both', { model: 'silent' })).toEqual([502]),
    );
    expect(asked.toSorted()).toEqual([0, 1]);
  });

  it('list their models by the first that answers', async () => {
    const list = await jsonOf<{ data: object[]; partial?: boolean }>(await fetch(`${gw.url}/v1/models`));
    expect([list.data.length, list.partial]).toEqual([3, undefined]);
  });
});

describe('a target whose endpoints all rest', () => {
  it('answers 429 with the least time to wait, asks nobody meanwhile, and no fallback', async () => {
    const model = 'status-429';
    const asked = await askedOf([a, b, spare], async () => {
      const first = await post('/spared', { model });
      expect([first.status, first.headers.get('retry-after'), await first.json()]).toMatchObject([
        429,
        '7',
        { error: { message: 'planted' } },
      ]);
      const second = await post('/spared', { model });
      expect([second.status, await second.json()]).toMatchObject([
        429,
        { code: 'provider_rate_limited', error: { type: 'rate_limit_error' } },
      ]);
      const seconds = Number(second.headers.get('retry-after'));
      expect(seconds).toBeGreaterThan(0);
      expect(seconds).toBeLessThanOrEqual(7);
    });
    expect(asked).toEqual([1, 1, 0]);
    expect((await post('/spared')).status).toBe(200);
  });

  it('does not rest for requests that are refused without a time to come back', async () => {
    const model = 'retry-after-never';
    const asked = await askedOf([a, b, spare], async () => {
      for (let i = 0; i < 2; i++) {
        const response = await post('/spared', { model });
        expect([response.status, await response.json()]).toMatchObject([429, { error: { message: 'planted' } }]);
        expect(Number(response.headers.get('retry-after'))).toBeLessThanOrEqual(5);
      }
    });
    expect(asked).toEqual([2, 2, 0]);
  });

  it('has failed where one of them has, or is left out by its circuit breaker: fallback is asked', async () => {
    const asked = await askedOf([spare], async () => {
      expect(await times(6, '/limited-or-dead', { model: 'a:status-429' })).toEqual(Array(6).fill(200));
    });
    expect(asked).toEqual([6]);
  });
});

describe('what is told of the endpoints', () => {
  it('is in the trace: which one was chosen and why, without credentials and addresses', async () => {
    const url = [
      'trace',
      '--admin',
      gw.admin,
      '/named',
      '-X',
      'POST',
      '-H',
      'content-type: application/json',
      '-d',
      JSON.stringify({ ...ASKED, model: 'a:status-503' }),
    ];
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [GW, ...url]);
    expect(stderr).toBe('');
    expect(stdout).toMatch(/ai endpoint\s.*127\.0\.0\.1.*default: target one, endpoint \d of 2, /);
    expect(stdout).toMatch(/ai endpoint\s.*the one that is left; endpoint \d asked before/);
    expect(stdout).not.toContain(CHAT_KEY);
  });

  it('is in the metrics, by host', async () => {
    const text = await (await fetch(`${gw.admin}/metrics`)).text();
    for (const outcome of ['answered', 'limited', 'failed']) {
      expect(text).toContain(`gw_plugin_ai_proxy_endpoint_requests_total{endpoint="127.0.0.1",outcome="${outcome}"}`);
    }
    expect(text).toContain('gw_plugin_ai_proxy_endpoint_breaker_opened_total{endpoint="127.0.0.1"} 1');
    expect(text).not.toContain(CHAT_KEY);
  });
});
