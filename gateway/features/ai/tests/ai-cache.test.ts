/** ai-cache in front of ai-proxy, through a real `gw serve`: who is answered from it, with what, and what is never stored. */
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../../../test/eventually.ts';
import type { Gateway } from '../../../../test/serve/gateway.ts';
import { scrape } from '../../../../test/serve/scrape.ts';
import {
  ask,
  auth,
  type CachedProviders,
  cached,
  ENV,
  onChat,
  onMessages,
  operation,
  post,
  startCached,
  startProviders,
} from './ai-cached-project.ts';

const CHAT = '/a/v1/chat/completions';
const cost = {
  name: 'ai-cost-tracker',
  config: {
    prices: { 'provider_chat/*': { prompt: 1, completion: 1 } },
    default_profile: 'all',
    profiles: {
      all: { budgets: [{ limit_usd: 100, period: 'day', partition_key: 'header:x-auth-consumer' }], reserve: 9 },
    },
  },
};
const guard = {
  name: 'ai-response-guard',
  config: { default_profile: 'all', profiles: { all: { pii: { email: 'redact' }, blocked_patterns: ['top secret'] } } },
};
const answerGuarded = [auth, cached(), guard];

let gw: Gateway;
let providers: CachedProviders;
let asked: string;
beforeAll(async () => {
  providers = await startProviders();
  const chat = onChat(providers);
  gw = await startCached({
    [CHAT]: operation(chat, [auth, cached({ client_control: true }), cost]),
    '/strict/v1/chat/completions': operation(chat, [auth, cached()]),
    '/a/v1/responses': operation(chat, [auth, cached()]),
    '/a/v1/embeddings': operation(chat, [auth, cached()]),
    '/a/v1/messages': operation(onMessages(providers), [auth, cached()]),
    '/messages/v1/chat/completions': operation(onMessages(providers), [auth, cached()]),
    '/all/v1/chat/completions': operation(chat, [auth, cached({ share: 'all' })]),
    '/open/v1/chat/completions': operation(chat, [cached()]),
    '/before/v1/chat/completions': operation(chat, [cached({ share: 'all' }), auth]),
    '/sampled/v1/chat/completions': operation(chat, [auth, cached({ sampled: true })]),
    '/small/v1/chat/completions': operation(chat, [auth, cached({ max_entry_bytes: 600 })]),
    '/short/v1/chat/completions': operation(chat, [auth, cached({ ttl: 1 })]),
    '/silent/v1/chat/completions': operation(chat, [auth, cached({ status_header: false })]),
    '/guarded/v1/chat/completions': operation(chat, answerGuarded),
    '/mock/v1/chat/completions': {
      post: {
        ...operation(chat, [auth, cached()]).post,
        'x-gw-dispatch': { name: 'mock', config: { body: '{}' } },
      },
    },
  });
});
afterAll(async () => {
  expect(await gw.stop()).toBe(0);
  await providers.close();
});
beforeEach(() => {
  asked = `What is ${crypto.randomUUID()}?`;
});

const HIT = expect.stringMatching(/^gw;hit;ttl=\d+$/);
const STORED = 'gw;fwd=miss;stored';
/** Of a stream, when it begins. */
const STREAMED = 'gw;fwd=miss;detail=stored-if-whole';
const seen = () =>
  [...providers.chat.seen, ...providers.messages.seen].filter(({ text }) => text.includes(asked)).length;
/** Twice the same. */
async function twice(path: string, body: object, options: Parameters<typeof post>[3] = {}) {
  return [await post(gw, path, body, options), await post(gw, path, body, options)] as const;
}

describe('the second of two requests that ask the same', () => {
  it.each([
    ['a chat completion', CHAT, () => ask(asked)],
    ['a chat completion of another protocol', '/messages/v1/chat/completions', () => ask(asked)],
    ['a response', '/a/v1/responses', () => ({ model: 'gpt-5', input: asked })],
    ['a message', '/a/v1/messages', () => ask(asked, { max_tokens: 9 })],
  ])('gets %s that is stored, whole and streamed, and no provider is asked', async (_what, path, body) => {
    for (const stream of [false, true]) {
      const [first, second] = await twice(path, { ...body(), stream });
      expect(first).toMatchObject({ status: 200, says: stream ? STREAMED : STORED });
      expect(second).toMatchObject({ status: 200, says: HIT, text: first.text });
      expect(second.headers.get('age')).toMatch(/^\d+$/);
      expect(second.headers.get('content-type')).toBe(first.headers.get('content-type'));
    }
    expect(seen()).toBe(2);
  });

  it('gets embeddings that are stored', async () => {
    const [first, second] = await twice('/a/v1/embeddings', { model: 'small', input: [asked, 'b'] });
    expect(second).toMatchObject({ says: HIT, text: first.text });
    expect(seen()).toBe(1);
  });

  it('is told nothing of it with status_header: false', async () => {
    const [first, second] = await twice('/silent/v1/chat/completions', ask(asked));
    expect([first.says, second.says, second.text]).toEqual([null, null, first.text]);
    expect(seen()).toBe(1);
  });

  it('has no headers of the first that were about its rate', async () => {
    const [first, second] = await twice(CHAT, ask(asked));
    expect(first.headers.get('x-ratelimit-remaining-requests')).toBe('9');
    expect(second.headers.get('x-ratelimit-remaining-requests')).toBeNull();
  });

  it.each([
    ['in another order and form', () => ({ messages: [{ content: asked, role: 'user' }], model: 'gpt-5' })],
    ['for another user', () => ask(asked, { user: 'somebody', metadata: { a: 'b' } })],
  ])('may ask %s', async (_what, other) => {
    await post(gw, CHAT, ask(asked));
    expect(await post(gw, CHAT, other())).toMatchObject({ says: HIT });
    expect(seen()).toBe(1);
  });

  it.each([
    ['another model', () => ask(asked, { model: 'gpt-6' })],
    ['a tool', () => ask(asked, { tools: [{ type: 'function', function: { name: 'f' } }] })],
    ['a limit', () => ask(asked, { max_completion_tokens: 7 })],
    ['a member that nobody knows', () => ask(asked, { of_tomorrow: true })],
    [
      'another message before',
      () =>
        ask(asked, {
          messages: [
            { role: 'system', content: 'Be brief' },
            { role: 'user', content: asked },
          ],
        }),
    ],
  ])('asks something else with %s', async (_what, other) => {
    await post(gw, CHAT, ask(asked));
    expect(await post(gw, CHAT, other())).toMatchObject({ status: 200, says: STORED });
    expect(seen()).toBe(2);
  });
});

describe('the official clients', () => {
  it('read an answer that is stored, whole and streamed', async () => {
    const client = new OpenAI({
      baseURL: `${gw.url}/a/v1`,
      apiKey: 'unused',
      maxRetries: 0,
      defaultHeaders: { 'x-api-key': ENV.ANN_KEY },
    });
    const question = { model: 'gpt-5', messages: [{ role: 'user' as const, content: asked }] };
    const texts: (string | null | undefined)[] = [];
    for (let i = 0; i < 2; i++) {
      texts.push((await client.chat.completions.create(question)).choices[0]?.message.content);
      let streamed = '';
      for await (const chunk of await client.chat.completions.create({ ...question, stream: true }))
        streamed += chunk.choices[0]?.delta.content ?? '';
      texts.push(streamed);
      texts.push((await client.responses.create({ model: 'gpt-5', input: asked })).output_text);
      let response = '';
      for await (const event of await client.responses.create({ model: 'gpt-5', input: asked, stream: true }))
        if (event.type === 'response.output_text.delta') response += event.delta;
      texts.push(response);
    }
    expect(texts).toEqual(Array.from({ length: 8 }, () => asked));
    expect(seen()).toBe(4);
  });

  it('of the other protocol, too', async () => {
    const client = new Anthropic({
      baseURL: `${gw.url}/a`,
      apiKey: 'unused',
      maxRetries: 0,
      defaultHeaders: { 'x-api-key': ENV.ANN_KEY },
    });
    const question = { model: 'claude-5', max_tokens: 9, messages: [{ role: 'user' as const, content: asked }] };
    for (let i = 0; i < 2; i++) {
      const { content } = await client.messages.create(question);
      expect(content).toMatchObject([{ type: 'text', text: asked }]);
      expect((await client.messages.stream(question).finalMessage()).content).toMatchObject([{ text: asked }]);
    }
    expect(seen()).toBe(2);
  });
});

describe('an answer is of', () => {
  it('the consumer who asked, unless it is shared', async () => {
    const bob = { key: ENV.BOB_KEY };
    await post(gw, CHAT, ask(asked));
    expect(await post(gw, CHAT, ask(asked), bob)).toMatchObject({ says: STORED });
    await post(gw, '/all/v1/chat/completions', ask(asked));
    expect(await post(gw, '/all/v1/chat/completions', ask(asked), bob)).toMatchObject({ says: HIT });
    expect(seen()).toBe(3);
  });

  it('its own operation', async () => {
    await post(gw, CHAT, ask(asked));
    expect(await post(gw, '/strict/v1/chat/completions', ask(asked))).toMatchObject({ says: STORED });
  });

  it('nobody where nobody is known', async () => {
    const answers = await twice('/open/v1/chat/completions', ask(asked), { key: null });
    expect(answers.map(({ says }) => says)).toEqual(Array(2).fill('gw;fwd=bypass;detail=no-consumer'));
  });

  it('nobody if the caller is known only later', async () => {
    const answers = await twice('/before/v1/chat/completions', ask(asked));
    expect(answers.map(({ says }) => says)).toEqual(Array(2).fill('gw;fwd=miss;detail=authenticated-later'));
    expect((await post(gw, '/before/v1/chat/completions', ask(asked), { key: null })).status).toBe(401);
  });
});

describe('a request', () => {
  it('without credentials gets nothing that is stored', async () => {
    await post(gw, CHAT, ask(asked));
    expect((await post(gw, CHAT, ask(asked), { key: null })).status).toBe(401);
  });

  it('with a temperature is answered anew, unless the config says otherwise', async () => {
    const warm = ask(asked, { temperature: 0.7 });
    const answers = await twice(CHAT, warm);
    expect(answers.map(({ says }) => says)).toEqual(Array(2).fill('gw;fwd=bypass;detail=sampled'));
    expect((await twice('/sampled/v1/chat/completions', warm))[1]).toMatchObject({ says: HIT });
    expect((await twice(CHAT, ask(asked, { temperature: 0 })))[1]).toMatchObject({ says: HIT });
  });

  it('whose meaning the provider keeps is answered anew', async () => {
    const answers = await twice('/a/v1/responses', { model: 'gpt-5', input: asked, previous_response_id: 'resp_1' });
    expect(answers.map(({ says }) => says)).toEqual(Array(2).fill('gw;fwd=bypass;detail=state-at-provider'));
  });

  it('can ask for a new answer, which takes the place of the stored one, where the config lets it', async () => {
    const anew = { headers: { 'cache-control': 'no-cache' } };
    await post(gw, CHAT, ask(asked));
    expect(await post(gw, CHAT, ask(asked), anew)).toMatchObject({ says: 'gw;fwd=request;stored' });
    expect(await post(gw, CHAT, ask(asked))).toMatchObject({ says: HIT });
    expect((await twice('/strict/v1/chat/completions', ask(asked), anew))[1]).toMatchObject({ says: HIT });
  });

  it('can ask that its answer is not stored', async () => {
    const answers = await twice('/strict/v1/chat/completions', ask(asked), {
      headers: { 'cache-control': 'no-store' },
    });
    expect(answers.map(({ says }) => says)).toEqual(Array(2).fill('gw;fwd=request'));
  });

  it('gets nothing that is older than the ttl', async () => {
    const path = '/short/v1/chat/completions';
    await post(gw, path, ask(asked));
    await eventually(async () => (await post(gw, path, ask(asked))).says === STORED);
  });
});

describe('nothing is stored of', () => {
  it.each([
    ['an error', 'status-429', false, 'gw;fwd=miss;detail=status'],
    ['an error to a stream', 'status-400', true, 'gw;fwd=miss;detail=status'],
    ['an answer that breaks off', 'half', false, 'gw;fwd=miss;detail=status'],
    ['a stream that breaks off', 'half', true, STREAMED],
    ['a stream that ends early', 'ends-early', true, STREAMED],
    ['a stream without an event', 'empty', true, 'gw;fwd=miss;detail=status'],
  ])('%s', async (_what, model, stream, says) => {
    const answers = await twice(CHAT, ask(asked, { model, stream }));
    expect(answers.map((each) => each.says)).toEqual([says, says]);
  });

  it('an answer that is too large', async () => {
    const long = `${asked} ${'very '.repeat(200)}`;
    const whole = await twice('/small/v1/chat/completions', ask(long));
    expect(whole.map(({ says }) => says)).toEqual(Array(2).fill('gw;fwd=miss;detail=too-large'));
    const streamed = await twice('/small/v1/chat/completions', ask(long, { stream: true }));
    expect(streamed.map(({ text }) => text)).toEqual(Array(2).fill(streamed[0].text));
    expect(seen()).toBe(4);
  });

  it('an answer of which the client has not waited for the end', async () => {
    const left = async () => {
      const leave = new AbortController();
      const response = await fetch(gw.url + CHAT, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': ENV.ANN_KEY },
        body: JSON.stringify(ask(asked, { model: 'stalls', stream: true })),
        signal: leave.signal,
      });
      await response.body?.getReader().read();
      leave.abort();
      return response.headers.get('cache-status');
    };
    expect([await left(), await left()]).toEqual([STREAMED, STREAMED]);
  });

  it('another dispatcher', async () => {
    const answers = await twice('/mock/v1/chat/completions', ask(asked));
    expect(answers.map(({ says }) => says)).toEqual(Array(2).fill('gw;fwd=miss;detail=not-of-ai-proxy'));
  });

  it('an answer that a guard withholds', async () => {
    const path = '/guarded/v1/chat/completions';
    const whole = await twice(path, ask(`${asked} top secret`));
    expect(whole.map(({ status, says }) => [status, says])).toEqual(Array(2).fill([403, 'gw;fwd=miss;detail=status']));
    const streamed = await twice(path, ask(`${asked} top secret`, { stream: true }));
    for (const { text } of streamed) expect(text).toContain('response_blocked');
    expect(seen()).toBe(4);
  });
});

it('stores what a guard behind it has made of an answer', async () => {
  const path = '/guarded/v1/chat/completions';
  for (const stream of [false, true]) {
    const [first, second] = await twice(path, ask(`${asked} ann@example.com`, { stream }));
    expect(second).toMatchObject({ says: HIT, text: first.text });
    expect(second.text).not.toContain('example.com');
    expect(second.text).toContain('[EMAIL]');
  }
});

it('costs nothing from the cache, and says in metrics and log what became of each request', async () => {
  const before = await scrape(gw.admin);
  await twice(CHAT, ask(asked));
  const after = await scrape(gw.admin);
  const grown = (name: string, labels: Record<string, string>) =>
    after.value(name, labels) - before.value(name, labels);
  expect(grown('gw_plugin_ai_cache_requests_total', { result: 'miss' })).toBe(1);
  expect(grown('gw_plugin_ai_cache_requests_total', { result: 'hit' })).toBe(1);
  expect(grown('gw_plugin_ai_proxy_requests_total', { provider: 'provider_chat', status: '200' })).toBe(1);
  const spent = { provider: 'provider_chat', model: 'provider_chat/*', consumer: 'ann' };
  expect(grown('gw_plugin_ai_cost_tracker_cost_usd_total', spent)).toBeGreaterThan(0);
  const costs = after.value('gw_plugin_ai_cost_tracker_cost_usd_total', spent);
  await post(gw, CHAT, ask(asked));
  expect((await scrape(gw.admin)).value('gw_plugin_ai_cost_tracker_cost_usd_total', spent)).toBe(costs);
});
