/** Policies in front of files and batches: `on_files`, and what a batch takes out of a quota and a budget when it has ended. */
import OpenAI, { BadRequestError, RateLimitError } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHAT_KEY, startChatProvider } from '../../../../test/ai/chat-provider.ts';
import type { FakeProvider } from '../../../../test/ai/fake-provider.ts';
import { freePort } from '../../../../test/free-port.ts';
import {
  ended,
  filesPaths,
  IDS_KEY,
  KEYED,
  KEYS,
  KEYS_ENV,
  newBatch,
  SCHEMES,
  uploaded,
} from '../../../../test/serve/ai-files-project.ts';
import { compileSpec, type Gateway, startGateway } from '../../../../test/serve/gateway.ts';
import { scrape } from '../../../../test/serve/scrape.ts';

const { REDIS_URL } = process.env;
const profile = (settings: object) => ({ default_profile: 'all', profiles: { all: settings } });
const allowed = { on_files: 'allow' };
/** No other run counts in it. */
const policy_name = crypto.randomUUID();

/** What the batch of the fake takes. */
const TOKENS = 290;

const POLICIES: Readonly<Record<string, object>> = {
  'ai-prompt-guard': profile({ max_messages: 9 }),
  'ai-prompt-template': profile({ prepend: [{ role: 'system', content: 'Be brief.' }] }),
  'ai-token-limit': { ...profile({ quota: TOKENS - 1, window: 3600 }), partition_key: 'all', policy_name },
  'ai-cost-tracker': {
    prices: { 'provider_chat/gpt-5': { prompt: 1_000, completion: 10_000 } },
    ...profile({ budgets: [{ limit_usd: 0.5, period: 'year' }] }),
    policy_name,
  },
  'ai-cache': { ttl: 60, share: 'all' },
  'ai-response-guard': profile({ blocked_patterns: ['of 1'] }),
};

let chat: FakeProvider;
const gateways: Gateway[] = [];
let artifact: Uint8Array;

beforeAll(async () => {
  chat = await startChatProvider();
  const main = { provider: 'provider_chat', api_key: 'env://CHAT_KEY', base_url: chat.url };
  const config = { ...main, files: { id_key: 'env://IDS_KEY' } };
  const paths = [
    ...filesPaths('', config),
    ...Object.entries(POLICIES).flatMap(([name, settings]) => [
      ...filesPaths(`/${name}`, config, [KEYED, { name, config: settings }]),
      ...filesPaths(`/allowed/${name}`, config, [KEYED, { name, config: { ...settings, ...allowed } }]),
    ]),
  ];
  const document = {
    openapi: '3.1.0',
    info: { title: 'files', version: '1' },
    components: { securitySchemes: SCHEMES },
    paths: Object.fromEntries(paths),
  };
  artifact = await compileSpec(document, ['ai-proxy', 'apikey-auth', ...Object.keys(POLICIES)]);
  await start();
});
afterAll(async () => {
  for (const gw of gateways) expect(await gw.stop()).toBe(0);
  await chat.close();
});

async function start(...args: string[]): Promise<Gateway> {
  const gw = await startGateway(artifact, { args, env: { CHAT_KEY, IDS_KEY, ...KEYS_ENV } });
  gateways.push(gw);
  return gw;
}

function clientOf(prefix: string, gw = gateways[0]) {
  const defaultHeaders = { 'X-API-Key': KEYS.ann };
  return new OpenAI({ apiKey: 'none', baseURL: `${gw?.url}${prefix}/v1`, maxRetries: 0, defaultHeaders });
}

const [RESPONSES] = ['ai-response-guard'];
const OF_PROMPTS = Object.keys(POLICIES).filter((name) => name !== RESPONSES);

describe('files and batches', () => {
  it.each(OF_PROMPTS)('are refused by %s, unless its config lets them through', async (name) => {
    const { id } = await uploaded(clientOf(''));
    const before = chat.seen.length;
    const upload = await uploaded(clientOf(`/${name}`)).catch((error: unknown) => error);
    expect(upload).toBeInstanceOf(BadRequestError);
    expect(upload).toMatchObject({ code: 'files_not_supported' });
    const batch = await clientOf(`/${name}`)
      .batches.create(newBatch(id))
      .catch((error: unknown) => error);
    expect(batch).toMatchObject({ status: 400, code: 'batches_not_supported' });
    expect(chat.seen.length).toBe(before);
    const client = clientOf(`/allowed/${name}`);
    const created = await client.batches.create(newBatch((await uploaded(client)).id));
    expect(await client.batches.retrieve(created.id)).toMatchObject({ id: created.id, status: 'in_progress' });
  });

  it('have their answers withheld by ai-response-guard, unless its config lets them through', async () => {
    const open = clientOf('');
    const { id } = await open.batches.create(newBatch((await uploaded(open)).id));
    const output = (await ended(open, id)).output_file_id ?? '';
    const withheld = await clientOf(`/${RESPONSES}`)
      .files.content(output)
      .catch((error: unknown) => error);
    expect(withheld).toMatchObject({ status: 400, code: 'files_not_supported' });
    expect(String(withheld)).not.toContain('of 1');
    expect(await clientOf(`/${RESPONSES}`).files.retrieve(output)).toMatchObject({ id: output });
    expect(await (await clientOf(`/allowed/${RESPONSES}`).files.content(output)).text()).toContain('of 1');
  });
});

describe('a batch that has ended', () => {
  it.each([
    ['ai-token-limit', 'token_limit_exceeded'],
    ['ai-cost-tracker', 'budget_exceeded'],
  ])('takes what it has taken out of %s, and the next one is refused', async (name, code) => {
    const client = clientOf(`/allowed/${name}`);
    const file = await uploaded(client);
    const { id } = await client.batches.create(newBatch(file.id));
    await ended(client, id);
    const refusal = await client.batches.create(newBatch(file.id)).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(RateLimitError);
    expect(refusal).toMatchObject({ code });
    // What was paid for can be read.
    expect(await client.batches.retrieve(id)).toMatchObject({ status: 'completed' });
  });

  it('costs its consumer what its model costs, once', async () => {
    const labels = { provider: 'provider_chat', model: 'provider_chat/gpt-5', consumer: 'ann' };
    const [gw] = gateways;
    const spent = async () => (await scrape(gw?.admin ?? '')).value('gw_plugin_ai_cost_tracker_cost_usd_total', labels);
    const before = await spent();
    const open = clientOf('');
    const { id } = await open.batches.create(newBatch((await uploaded(open)).id));
    const client = clientOf('/allowed/ai-cost-tracker');
    for (let i = 0; i < 3; i++) await ended(client, id);
    // 210 tokens of the prompt at a tenth of a cent, 80 of the completion at a cent.
    expect((await spent()) - before).toBeCloseTo(0.21 + 0.8, 9);
  });

  it.skipIf(REDIS_URL === undefined)('is counted once by all pods (needs REDIS_URL)', async () => {
    const shared = ['--state', REDIS_URL ?? '', '--state-timeout-ms', '10000'];
    const pods = await Promise.all([start(...shared), start(...shared)]);
    const counted = async () => {
      const figures = await Promise.all(pods.map(({ admin }) => scrape(admin)));
      const labels = { provider: 'provider_chat', type: 'completion' };
      return figures.reduce((sum, each) => sum + each.value('gw_plugin_ai_proxy_tokens_total', labels), 0);
    };
    const [first, second] = pods.map((pod) => clientOf('', pod));
    if (!first || !second) throw new Error('there are two pods');
    const { id } = await first.batches.create(newBatch((await uploaded(first)).id));
    await ended(first, id);
    await Promise.all([second, first, second].map((each) => ended(each, id)));
    expect(await counted()).toBe(80);
  });

  it('is not shown while the state is unavailable: its tokens could not be counted', async () => {
    const away = await start('--state', `redis://127.0.0.1:${await freePort()}`);
    const client = clientOf('', away);
    const { id } = await client.batches.create(newBatch((await uploaded(client)).id));
    expect(await client.batches.retrieve(id)).toMatchObject({ status: 'in_progress' });
    await expect(client.batches.retrieve(id)).rejects.toMatchObject({ status: 503 });
    expect(await ended(clientOf(''), id)).toMatchObject({ id, status: 'completed' });
  });
});
