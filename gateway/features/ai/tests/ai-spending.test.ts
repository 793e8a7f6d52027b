/** ai-token-limit and ai-cost-tracker in front of ai-proxy, through real `gw serve` processes. */
import { Redis } from 'iovalkey';
import OpenAI, { RateLimitError } from 'openai';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { CHAT_KEY, startChatProvider } from '../../../../test/ai/chat-provider.ts';
import type { FakeProvider } from '../../../../test/ai/fake-provider.ts';
import { MESSAGES_KEY, startMessagesProvider } from '../../../../test/ai/messages-provider.ts';
import { compileSpec, type Gateway, jsonOf, startGateway } from '../../../../test/serve/gateway.ts';
import { scrape } from '../../../../test/serve/scrape.ts';

const { REDIS_URL } = process.env;
/** What the fakes count for each answer: of chat completions, and of messages. */
const [SPENT, SPENT_MESSAGES] = [29, 32];
/** Of a message with one letter. */
const ESTIMATE = 8;

let chat: FakeProvider;
let messages: FakeProvider;
beforeAll(async () => {
  [chat, messages] = await Promise.all([startChatProvider(), startMessagesProvider()]);
});
afterAll(() => Promise.all([chat.close(), messages.close()]));

const gateways: Gateway[] = [];
afterEach(async () => {
  await Promise.all(gateways.splice(0).map((gw) => gw.stop()));
});

async function start(artifact: Uint8Array, ...args: string[]): Promise<Gateway> {
  const gw = await startGateway(artifact, { env: { CHAT_KEY, MESSAGES_KEY }, args });
  gateways.push(gw);
  return gw;
}

function artifact(middlewares: readonly object[], more: object = {}): Promise<Uint8Array> {
  const operation = (config: object) => ({
    post: {
      responses: { default: { description: 'any' } },
      requestBody: { content: { 'application/json': { schema: {} } } },
      'x-gw-middlewares': middlewares,
      'x-gw-dispatch': { name: 'ai-proxy', config: { timeout: 2, ...config, ...more } },
    },
  });
  const onChat = { provider: 'provider_chat', base_url: chat.url, api_key: 'env://CHAT_KEY' };
  const onMessages = { provider: 'provider_messages', base_url: messages.url, api_key: 'env://MESSAGES_KEY' };
  const paths = {
    '/v1/chat/completions': operation(onChat),
    '/v1/responses': operation(onChat),
    '/messages': operation({ ...onMessages, max_tokens: 9 }),
    '/nowhere': operation({ ...onChat, base_url: 'http://127.0.0.1:1' }),
  };
  const document = { openapi: '3.1.0', info: { title: 'models', version: '1' }, paths };
  return compileSpec(document, ['ai-proxy', 'ai-token-limit', 'ai-cost-tracker']);
}

/** Of one bucket, which no other run of this test counts in. */
const limit = (quota: number, window = 3600) => ({
  name: 'ai-token-limit',
  config: {
    default_profile: 'all',
    profiles: { all: { quota, window } },
    partition_key: 'all',
    policy_name: crypto.randomUUID(),
  },
});

const asked = (more: object = {}) => ({
  model: 'gpt-4o',
  max_tokens: 10,
  messages: [{ role: 'user', content: 'x' }],
  ...more,
});

function post(gw: Gateway, body: object = asked(), path = '/v1/chat/completions', init: RequestInit = {}) {
  const headers = { 'content-type': 'application/json' };
  return fetch(`${gw.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body), ...init });
}

/** What is left, by a request that reserves and spends nothing of note: an invalid one, which no provider answers. */
async function left(gw: Gateway): Promise<number> {
  const response = await post(gw, { max_tokens: 1 });
  await response.arrayBuffer();
  expect([400, 429]).toContain(response.status);
  return response.status === 429 ? 0 : Number(response.headers.get('x-ratelimit-remaining')) + 1;
}

describe('ai-token-limit', () => {
  it.each([
    ['a chat completion', '/v1/chat/completions', asked(), SPENT],
    ['a stream of one', '/v1/chat/completions', asked({ stream: true }), SPENT],
    ['a translated one', '/messages', asked({ model: 'claude-4' }), SPENT_MESSAGES],
    ['a translated stream', '/messages', asked({ model: 'claude-4', stream: true }), SPENT_MESSAGES],
    ['a response', '/v1/responses', { model: 'gpt-4o', input: 'x', max_output_tokens: 10 }, SPENT],
  ])('takes what the provider has counted: %s', async (_, path, body, spent) => {
    const gw = await start(await artifact([limit(1_000)]));
    const response = await post(gw, body, path);
    expect(response.status).toBe(200);
    expect(Number(response.headers.get('x-ratelimit-remaining'))).toBeGreaterThan(1_000 - 30);
    await response.text();
    await expect.poll(() => left(gw)).toBe(1_000 - spent);
  });

  it.each([
    ['the provider refuses', asked({ model: 'status-400' }), '/v1/chat/completions'],
    ['the provider fails', asked({ model: 'status-500' }), '/v1/chat/completions'],
    ['its stream never begins', asked({ model: 'cut', stream: true }), '/v1/chat/completions'],
    ['nothing listens', asked(), '/nowhere'],
    ['it is invalid', { max_tokens: 10 }, '/v1/chat/completions'],
  ])('gives back what was reserved where %s', async (_, body, path) => {
    const gw = await start(await artifact([limit(1_000)]));
    await (await post(gw, body, path)).arrayBuffer();
    await expect.poll(() => left(gw)).toBe(1_000);
  });

  it.each([
    ...['1e300', '-5', '"9"', '1.5', '{}', 'null', '0', '9007199254740991'].map((lie) => [lie, false] as const),
    ...['1e300', '-5', '"9"', '0'].map((lie) => [lie, true] as const),
  ])('goes by the length of the texts where the provider counts %s, stream %s', async (lie, stream) => {
    const gw = await start(await artifact([limit(1_000)]));
    const messages = [{ role: 'user', content: 'word '.repeat(80) }];
    await (await post(gw, asked({ model: `usage-${lie}`, stream, messages }))).text();
    // A hundred tokens of the prompt, and those of its echo; whole answers count with their envelope.
    await expect.poll(() => left(gw)).toBeLessThan(1_000 - 200);
    expect(await left(gw)).toBeGreaterThan(1_000 - 400);
  });

  it.each([
    ['max_tokens', '10'],
    ['max_tokens', -1],
    ['max_completion_tokens', 1.5],
    ['max_output_tokens', 1e300],
    ['n', '2'],
    ['n', [2]],
  ])('refuses %s that is %j, of which nothing could be reserved', async (name, value) => {
    const gw = await start(await artifact([limit(1_000)]));
    const response = await post(gw, asked({ [name]: value }));
    expect([response.status, await jsonOf(response)]).toMatchObject([
      400,
      { code: 'invalid_request', error: { type: 'invalid_request_error', param: name } },
    ]);
    expect(await left(gw)).toBe(1_000);
  });

  it('gives back what was reserved where another limit refuses the request', async () => {
    const [wide, narrow] = [limit(1_000), limit(5)];
    const gw = await start(await artifact([wide, narrow]));
    // More than all of the second: admitted, since nothing else is there; then it is used up.
    expect((await post(gw)).status).toBe(200);
    await expect.poll(async () => (await post(gw)).status).toBe(429);
    const response = await post(gw);
    expect([response.status, response.headers.get('x-ratelimit-remaining')]).toEqual([429, null]);
    expect(response.headers.get('ratelimit-policy')).toContain(narrow.config.policy_name);
    expect((await scrape(gw.admin)).value('gw_plugin_ai_token_limit_refused_total')).toBeGreaterThan(1);
  });

  it('refuses in a way that the client library understands', async () => {
    const gw = await start(await artifact([limit(SPENT)]));
    const client = new OpenAI({ apiKey: 'none', baseURL: `${gw.url}/v1`, maxRetries: 0 });
    const ask = () =>
      client.chat.completions.create({ model: 'gpt-4o', messages: [{ role: 'user', content: 'x' }], max_tokens: 1 });
    await ask();
    const refused = await eventuallyRefused(ask);
    expect(refused).toBeInstanceOf(RateLimitError);
    expect(refused).toMatchObject({ status: 429, code: 'token_limit_exceeded', type: 'rate_limit_error' });
  });

  it('takes at least what has come of a stream whose client leaves, and all of an answer that may be under way', async () => {
    const gw = await start(await artifact([limit(100_000)]));
    const leaves = async (body: object) => {
      const controller = new AbortController();
      const response = await post(gw, body, undefined, { signal: controller.signal });
      await response.body?.getReader().read();
      controller.abort();
    };
    const content = 'word '.repeat(200);
    await leaves(asked({ model: 'stalls', stream: true, messages: [{ role: 'user', content }] }));
    // Half of its words have come: 100 of five letters, in tokens of four.
    await expect.poll(() => left(gw)).toBeLessThan(100_000 - 250 - 100);
    const before = await left(gw);
    expect(before).toBeGreaterThan(100_000 - 600);

    const seen = chat.seen.length;
    const controller = new AbortController();
    const silent = post(gw, asked({ model: 'silent', max_tokens: 5_000 }), undefined, { signal: controller.signal });
    const gone = silent.catch(() => {});
    await expect.poll(() => chat.seen.length).toBeGreaterThan(seen);
    controller.abort();
    await gone;
    await expect.poll(() => left(gw)).toBe(before - 5_000 - ESTIMATE);
  });

  it('admits as many streams at once as fit, over workers', async () => {
    const each = ESTIMATE + 10;
    const gw = await start(await artifact([limit(each * 20 + 5)]), '--workers', '2');
    const controller = new AbortController();
    const streams = await Promise.all(
      Array.from({ length: 100 }, () =>
        post(gw, asked({ model: 'stalls', stream: true }), undefined, { signal: controller.signal }),
      ),
    );
    expect(streams.filter(({ status }) => status === 200)).toHaveLength(20);
    expect(streams.filter(({ status }) => status === 429)).toHaveLength(80);
    controller.abort();
  });
});

async function eventuallyRefused(ask: () => Promise<unknown>): Promise<unknown> {
  let refused: unknown;
  await expect
    .poll(async () => {
      refused = await ask().then(
        () => undefined,
        (error: unknown) => error,
      );
      return refused !== undefined;
    })
    .toBe(true);
  return refused;
}

describe.skipIf(REDIS_URL === undefined)('two gateways on one Redis (needs REDIS_URL)', () => {
  it('never spend more than a quota: 100 streams at once, one gateway killed in between', async () => {
    const each = ESTIMATE + 10;
    const [fits, quota] = [40, each * 40 + 7];
    const policy = limit(quota);
    const redis = new Redis(REDIS_URL ?? '');
    const key = `gw:{budgets}:tokens|${policy.config.policy_name}|all|static=all`;
    const counted = async (name: string) => Number((await redis.hget(`${key}:amounts`, name)) ?? 0);
    // Streams that stall stay open until the test ends them, however slowly the others begin.
    const bytes = await artifact([policy], { timeout: 600 });
    const args = ['--state', REDIS_URL as string, '--state-timeout-ms', '10000'];
    const [doomed, survivor] = await Promise.all([start(bytes, ...args), start(bytes, ...args)]);
    const controller = new AbortController();
    const open = (gw: Gateway) =>
      post(gw, asked({ model: 'stalls', stream: true }), undefined, { signal: controller.signal });
    const held: Response[] = [];
    const streams = await Promise.all(
      Array.from({ length: 100 }, async (_, i) => {
        const gw = i % 2 === 0 ? doomed : survivor;
        const answer = await open(gw);
        // An answer that nobody holds is collected, and its stream with it.
        held.push(answer);
        return { gw, status: answer.status };
      }),
    );
    const admitted = streams.filter(({ status }) => status === 200);
    expect(admitted).toHaveLength(fits);
    expect(await counted('reserved')).toBe(fits * each);

    doomed.signal('SIGKILL');
    await doomed.exited;
    const lost = admitted.filter(({ gw }) => gw === doomed).length;
    expect(lost).toBeGreaterThan(0);
    // What the killed one has reserved stays so until its leases are up; nobody else gets it.
    expect((await open(survivor)).status).toBe(429);
    expect(held).toHaveLength(100);
    controller.abort();
    await expect.poll(() => counted('reserved')).toBe(lost * each);
    const spent = await counted('spent');
    expect(spent).toBeGreaterThan(0);
    expect(spent).toBeLessThanOrEqual((fits - lost) * each);
    // The rest is there for others, to the last token, once.
    const rest = quota - lost * each - spent;
    const over = await post(survivor, asked({ model: 'status-400', max_tokens: rest - ESTIMATE + 1 }));
    expect(over.status).toBe(429);
    const within = await post(survivor, asked({ model: 'status-400', max_tokens: rest - ESTIMATE }));
    expect([within.status, within.headers.get('x-ratelimit-remaining')]).toEqual([400, '0']);
    await expect.poll(() => counted('reserved')).toBe(lost * each);
    expect(await counted('spent')).toBe(spent);
    redis.disconnect();
  });
});

describe('ai-cost-tracker', () => {
  const tracker = (more: object = {}) => ({
    name: 'ai-cost-tracker',
    config: {
      policy_name: crypto.randomUUID(),
      prices: {
        'provider_chat/gpt-*': { prompt: 2, completion: 10, cached: 1 },
        'provider_chat/chat:*': { prompt: 2, completion: 10 },
        'provider_messages/*': { prompt: 3, completion: 15 },
      },
      price_unit: 1000,
      ...more,
    },
  });
  /** 21 prompt tokens, 16 of them cached, and 8 of the completion. */
  const COST = (5 * 2 + 16 * 1 + 8 * 10) / 1000;

  it('counts what each request costs, by provider and entry of the price list, streams too', async () => {
    const gw = await start(await artifact([tracker()]));
    for (const stream of [false, true]) await (await post(gw, asked({ stream }))).text();
    await (await post(gw, asked({ model: 'claude-4' }), '/messages')).text();
    await (await post(gw, asked({ model: 'free' }))).text();
    const cost = async (provider: string, model: string) =>
      (await scrape(gw.admin)).value('gw_plugin_ai_cost_tracker_cost_usd_total', { provider, model, consumer: '' });
    await expect.poll(() => cost('provider_chat', 'provider_chat/gpt-*')).toBeCloseTo(2 * COST, 9);
    expect(await cost('provider_messages', 'provider_messages/*')).toBeGreaterThan(0);
    expect(await cost('provider_chat', 'other')).toBe(0);
    const logged = () => gw.log.find((each) => each['ai_model'] === 'gpt-4o')?.['ai_cost_usd'];
    await expect.poll(logged).toBeCloseTo(COST, 9);
  });

  it('keeps what is spent within a budget', async () => {
    const profiles = { all: { budgets: [{ limit_usd: 0.5, period: 'year', partition_key: 'all' }] } };
    const gw = await start(await artifact([tracker({ default_profile: 'all', profiles })]));
    let spent = 0;
    let refused: Response | null = null;
    for (let i = 0; i < 10 && refused === null; i++) {
      const response = await post(gw, asked());
      await response.text();
      if (response.status === 429) refused = response;
      else spent += COST;
      await expect
        .poll(async () => {
          const metrics = await scrape(gw.admin);
          const labels = { provider: 'provider_chat', model: 'provider_chat/gpt-*', consumer: '' };
          return metrics.value('gw_plugin_ai_cost_tracker_cost_usd_total', labels);
        })
        .toBeCloseTo(spent, 9);
    }
    expect(spent).toBeGreaterThan(0.3);
    expect(spent).toBeLessThanOrEqual(0.5);
    expect(refused?.headers.get('x-should-retry')).toBe('false');
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  it('admits no more streams at once than the budget pays for', async () => {
    // Each may cost its estimate and ten tokens, at the higher of two prices.
    const each = (ESTIMATE * 3 + 10 * 15) / 1000;
    const profiles = { all: { budgets: [{ limit_usd: each * 10.5, period: 'month', partition_key: 'all' }] } };
    const gw = await start(await artifact([tracker({ default_profile: 'all', profiles })]));
    const controller = new AbortController();
    const streams = await Promise.all(
      Array.from({ length: 100 }, () =>
        post(gw, asked({ model: 'chat:stalls', stream: true }), undefined, { signal: controller.signal }),
      ),
    );
    expect(streams.filter(({ status }) => status === 200)).toHaveLength(10);
    controller.abort();
  });
});
