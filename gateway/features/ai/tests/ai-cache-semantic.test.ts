/** ai-cache with `semantic`, through a real `gw serve`: questions that mean the same, and a provider of embeddings in all its moods. */
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type EmbeddingProvider, startEmbeddingProvider } from '../../../../test/ai/embedding-provider.ts';
import { type Gateway, startGateway } from '../../../../test/serve/gateway.ts';
import { scrape } from '../../../../test/serve/scrape.ts';
import {
  aiArtifact,
  ask as asking,
  auth,
  type CachedProviders,
  cached,
  ENV,
  onChat,
  onMessages,
  operation,
  post,
  startProviders,
} from './ai-cached-project.ts';

const { REDIS_URL } = process.env;
const CHAT = '/v1/chat/completions';
const SIMILAR = expect.stringMatching(/^gw;hit;ttl=\d+;detail="similarity 0\.[89]\d\d"$/);
const STORED = 'gw;fwd=miss;stored';
/** Of a stream, when it begins. */
const STREAMED = 'gw;fwd=miss;detail=stored-if-whole';

const restores = {
  name: 'ai-prompt-guard',
  config: {
    default_profile: 'all',
    profiles: { all: { pii: { email: 'redact' }, restore: ['email'] } },
    hash_key: 'env://HASH_KEY',
  },
};

let gw: Gateway;
let providers: CachedProviders;
let embeddings: EmbeddingProvider;
let artifact: Uint8Array;
let city: string;
/** Of each test its own: what others have asked is another context. */
let model: string;
const prefix = crypto.randomUUID();
beforeAll(async () => {
  [providers, embeddings] = await Promise.all([startProviders(), startEmbeddingProvider()]);
  const embedding = { base_url: embeddings.url, api_key: 'env://EMBEDDING_KEY', model: 'small', timeout: 0.3 };
  const semantic = (more: object = {}, of: object = {}) =>
    cached({ semantic: { threshold: 0.8, embedding: { ...embedding, ...of }, ...more } });
  const chat = onChat(providers);
  artifact = await aiArtifact({
    [CHAT]: operation(chat, [auth, semantic()]),
    '/v1/responses': operation(chat, [auth, semantic()]),
    '/v1/messages': operation(onMessages(providers), [auth, semantic()]),
    '/exact/v1/chat/completions': operation(chat, [auth, semantic({ threshold: 1 })]),
    '/few/v1/chat/completions': operation(chat, [auth, semantic({ max_entries: 2 })]),
    '/nowhere/v1/chat/completions': operation(chat, [auth, semantic({}, { base_url: 'http://127.0.0.1:1' })]),
    '/restored/v1/chat/completions': operation(chat, [auth, restores, semantic()]),
  });
  gw = await startGateway(artifact, { env: { ...ENV, EMBEDDING_KEY: 'sk-embedding' } });
});
afterAll(async () => {
  expect(await gw.stop()).toBe(0);
  await Promise.all([providers.close(), embeddings.close()]);
});
beforeEach(() => {
  embeddings.behaviour = 'well';
  city = `city-${crypto.randomUUID()}`;
  model = `gpt-${crypto.randomUUID()}`;
});

const ask = (content: string, more: object = {}) => asking(content, { model, ...more });
const question = () => `What is the capital of the country of ${city} and of its king?`;
const rephrased = () => `Tell: what is the capital of the country of ${city} and of its king?`;
const other = () => `How many rivers flow through ${city}, and since when do they?`;

describe('a question that means the same', () => {
  it('gets the answer to the first, whole and streamed', async () => {
    for (const stream of [false, true]) {
      const first = await post(gw, CHAT, ask(question(), { stream }));
      const asNew = stream ? STREAMED : STORED;
      expect(first).toMatchObject({ status: 200, says: asNew });
      expect(await post(gw, CHAT, ask(rephrased(), { stream }))).toMatchObject({ says: SIMILAR, text: first.text });
      expect(await post(gw, CHAT, ask(other(), { stream }))).toMatchObject({ says: asNew });
    }
    expect(embeddings.seen.at(-1)).toEqual({ text: other(), authorization: 'Bearer sk-embedding' });
  });

  it.each([
    ['responses', '/v1/responses', (input: string) => ({ model, input })],
    [
      'responses with parts',
      '/v1/responses',
      (text: string) => ({ model, input: [{ role: 'user', content: [{ type: 'input_text', text }] }] }),
    ],
    [
      'messages',
      '/v1/messages',
      (text: string) => ask('', { max_tokens: 9, messages: [{ role: 'user', content: text }] }),
    ],
  ])('gets it from %s, too', async (_what, path, body) => {
    const first = await post(gw, path, body(question()));
    expect(await post(gw, path, body(rephrased()))).toMatchObject({ says: SIMILAR, text: first.text });
  });

  it('gets it in the form that the official client reads', async () => {
    const client = new OpenAI({
      baseURL: `${gw.url}/v1`,
      apiKey: 'unused',
      maxRetries: 0,
      defaultHeaders: { 'x-api-key': ENV.ANN_KEY },
    });
    const texts = async (content: string) => {
      const body = { model, messages: [{ role: 'user' as const, content }] };
      const whole = (await client.chat.completions.create(body)).choices[0]?.message.content;
      let streamed = '';
      for await (const chunk of await client.chat.completions.create({ ...body, stream: true }))
        streamed += chunk.choices[0]?.delta.content ?? '';
      return [whole, streamed];
    };
    expect(await texts(question())).toEqual([question(), question()]);
    expect(await texts(rephrased())).toEqual([question(), question()]);
  });

  it('is not looked for where the same question was asked', async () => {
    await post(gw, CHAT, ask(question()));
    const before = embeddings.seen.length;
    expect((await post(gw, CHAT, ask(question()))).says).toMatch(/^gw;hit;ttl=\d+$/);
    expect(embeddings.seen.length).toBe(before);
  });

  it('is none below the threshold', async () => {
    const path = '/exact/v1/chat/completions';
    await post(gw, path, ask(question()));
    expect(await post(gw, path, ask(rephrased()))).toMatchObject({ says: STORED });
  });

  it.each([
    ['another model', (text: string) => ask(text, { model: 'gpt-6' })],
    [
      'another system prompt',
      (text: string) =>
        ask('', {
          messages: [
            { role: 'system', content: 'Lie' },
            { role: 'user', content: text },
          ],
        }),
    ],
    ['a tool', (text: string) => ask(text, { tools: [{ type: 'function', function: { name: 'f' } }] })],
  ])('is none with %s', async (_what, body) => {
    await post(gw, CHAT, ask(question()));
    expect(await post(gw, CHAT, body(rephrased()))).toMatchObject({ status: 200, says: STORED });
  });

  it('is none of another consumer', async () => {
    await post(gw, CHAT, ask(question()));
    expect(await post(gw, CHAT, ask(rephrased()), { key: ENV.BOB_KEY })).toMatchObject({ says: STORED });
  });

  it.each([
    [
      'a picture',
      [
        { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
        { type: 'text', text: 'What is it?' },
      ],
    ],
    ['no text', '  '],
    ['very much text', 'very '.repeat(5000)],
  ])('is not looked for with %s', async (_what, content) => {
    const before = embeddings.seen.length;
    expect(
      (await post(gw, CHAT, ask('', { user: city, messages: [{ role: 'user', content }], seed: Math.random() })))
        .status,
    ).toBe(200);
    expect(embeddings.seen.length).toBe(before);
  });

  it('is not looked for where personal data are put back into the answer', async () => {
    const before = embeddings.seen.length;
    const path = '/restored/v1/chat/completions';
    for (const name of ['ann', 'bob']) {
      const content = `${question()} Ask ${name}@example.com`;
      const { text, says } = await post(gw, path, ask(content));
      expect([says, text]).toEqual([STORED, expect.stringContaining(content)]);
    }
    expect(embeddings.seen.length).toBe(before);
  });

  it('is none of those that gave way to newer ones', async () => {
    const path = '/few/v1/chat/completions';
    const numbered = (n: number) => `${`topic-${n}-${city} `.repeat(9)} why?`;
    for (const n of [1, 2, 3]) await post(gw, path, ask(numbered(n)));
    expect(await post(gw, path, ask(`${numbered(3)} please`))).toMatchObject({ says: SIMILAR });
    expect(await post(gw, path, ask(`${numbered(1)} please`))).toMatchObject({ says: STORED });
  });
});

describe('a provider of embeddings', () => {
  it.each(['silent', 'error', 'garbage', 'nothing', 'huge'] as const)(
    'that is %s costs a hit, and no answer',
    async (behaviour) => {
      await post(gw, CHAT, ask(question()));
      embeddings.behaviour = behaviour;
      expect(await post(gw, CHAT, ask(rephrased()))).toMatchObject({ status: 200, says: STORED });
      embeddings.behaviour = 'well';
      expect(await post(gw, CHAT, ask(rephrased().replace('Tell', 'Say')))).toMatchObject({ says: SIMILAR });
    },
  );

  it.each([400, 413, 422])('that refuses texts with %i is asked for the next one all the same', async (status) => {
    await post(gw, CHAT, ask(question()));
    for (let i = 0; i < 6; i++) expect((await post(gw, CHAT, ask(`${i} planted-${status}`))).says).toBe(STORED);
    expect(await post(gw, CHAT, ask(rephrased()))).toMatchObject({ says: SIMILAR });
  });

  it('that is away is left alone after a while, and counted', async () => {
    const before = await scrape(gw.admin);
    for (let i = 0; i < 8; i++)
      expect((await post(gw, '/nowhere/v1/chat/completions', ask(`${i} ${question()}`))).says).toBe(STORED);
    const figures = await scrape(gw.admin);
    const name = 'gw_plugin_ai_cache_embeddings_total';
    const grown = (result: string) => figures.value(name, { result }) - before.value(name, { result });
    expect([grown('failed'), grown('resting'), grown('embedded')]).toEqual([5, 3, 0]);
    expect(figures.value(name, { result: 'embedded' })).toBeGreaterThan(0);
    expect(figures.value('gw_plugin_ai_cache_requests_total', { result: 'similar' })).toBeGreaterThan(0);
    expect(JSON.stringify(gw.log)).not.toContain(city);
  });
});

describe.skipIf(REDIS_URL === undefined)('pods with --state (needs REDIS_URL)', () => {
  it('share what questions mean', async () => {
    const args = ['--state', REDIS_URL ?? '', '--state-timeout-ms', '10000', '--state-prefix', prefix];
    const env = { ...ENV, EMBEDDING_KEY: 'sk-embedding' };
    const pods = await Promise.all([1, 2].map(() => startGateway(artifact, { args, env })));
    const [one, two] = pods as [Gateway, Gateway];
    try {
      const first = await post(one, CHAT, ask(question()));
      expect(await post(two, CHAT, ask(rephrased()))).toMatchObject({ says: SIMILAR, text: first.text });
    } finally {
      await Promise.all(pods.map((pod) => pod.stop()));
    }
  });
});
