/** ai-token-limit and ai-cost-tracker in front of realtime sessions, which spend by the response. */
import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { WebSocket } from 'ws';
import { CHAT_KEY } from '../../../../test/ai/chat-provider.ts';
import { USAGE } from '../../../../test/ai/realtime-events.ts';
import { type RealtimeProvider, startRealtimeProvider } from '../../../../test/ai/realtime-provider.ts';
import { eventually } from '../../../../test/eventually.ts';
import { compileSpec, type Gateway, startGateway } from '../../../../test/serve/gateway.ts';
import { scrape } from '../../../../test/serve/scrape.ts';
import { closed, connecting, leaveAll, refused } from '../../../../test/serve/web-sockets.ts';

const { REDIS_URL } = process.env;
const SPENT = USAGE.total_tokens;
const PATH = '/v1/realtime?model=gpt-realtime';

let provider: RealtimeProvider;
beforeAll(async () => {
  provider = await startRealtimeProvider();
});
afterAll(() => provider.close());

const gateways: Gateway[] = [];
afterEach(async () => {
  leaveAll();
  await Promise.all(gateways.splice(0).map((gw) => gw.stop()));
});

async function start(middlewares: readonly object[], ...args: string[]): Promise<Gateway> {
  const config = { provider: 'provider_chat', base_url: provider.url, api_key: 'env://CHAT_KEY', timeout: 2 };
  const get = {
    responses: { default: { description: 'any' } },
    'x-gw-middlewares': middlewares,
    'x-gw-dispatch': { name: 'ai-proxy', config },
  };
  const document = { openapi: '3.1.0', info: { title: 'realtime', version: '1' }, paths: { '/v1/realtime': { get } } };
  const artifact = await compileSpec(document, ['ai-proxy', 'ai-token-limit', 'ai-cost-tracker']);
  const gw = await startGateway(artifact, { env: { CHAT_KEY }, args });
  gateways.push(gw);
  return gw;
}

const limit = (settings: object) => ({
  name: 'ai-token-limit',
  config: {
    default_profile: 'all',
    profiles: { all: { window: 3600, ...settings } },
    partition_key: 'all',
    policy_name: crypto.randomUUID(),
  },
});

async function session(gw: Gateway) {
  const socket = connecting(`${gw.url}${PATH}`);
  let done = 0;
  socket.on('message', (data) => {
    if (String(data).includes('"response.done"')) done++;
  });
  const [[response]] = await Promise.all([once(socket, 'upgrade'), once(socket, 'open')]);
  return { socket, left: Number(response.headers['x-ratelimit-remaining']), done: () => done };
}

function say(socket: WebSocket, text = 'Guten Tag'): void {
  const item = { type: 'message', role: 'user', content: [{ type: 'input_text', text }] };
  socket.send(JSON.stringify({ type: 'conversation.item.create', item }));
  socket.send(JSON.stringify({ type: 'response.create' }));
}

/** What a new session finds beside its own reservation, as soon as it is this. */
async function leaves(gw: Gateway, tokens: number): Promise<void> {
  await eventually(async () => {
    const { socket, left } = await session(gw);
    socket.terminate();
    expect(left).toBe(tokens);
  });
}

async function leave(socket: WebSocket): Promise<void> {
  socket.close();
  await closed(socket);
}

describe('ai-token-limit', () => {
  it('is charged with each response, and closes the session when it is used up', async () => {
    const gw = await start([limit({ quota: 1000, reserve: 300 })]);
    const { socket, done } = await session(gw);
    for (const each of [1, 2]) {
      say(socket);
      await eventually(() => expect(done()).toBe(each));
    }
    const end = closed(socket);
    say(socket);
    const { code, reason } = await end;
    expect([code, reason]).toEqual([1008, expect.stringMatching(/^token_limit_exceeded; try again in \d+ s$/)]);
    expect(done()).toBe(3);
    const answer = await refused(`${gw.url}${PATH}`);
    expect([answer.status, JSON.parse(answer.body).code]).toEqual([429, 'token_limit_exceeded']);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    const text = await (await fetch(`${gw.admin}/metrics`)).text();
    expect(text).toMatch(/^gw_plugin_ai_token_limit_refused_total 2$/m);
  });

  it.each([
    ['nothing was asked', null, 0],
    ['the response has failed', '!failed', 0],
    ['its responses were counted', 'Guten Tag', SPENT],
    ['nobody knows what a response has cost', '!uncounted', 300],
    ['an event was too large to be read', '!large', 300],
    ['it ends before a response is over', '!begins', 300],
    ['the provider is lost', '!closes', 0],
  ])('keeps what was spent where %s', async (_, text, spent) => {
    const gw = await start([limit({ quota: 1000, reserve: 300 })]);
    const { socket, left } = await session(gw);
    expect(left).toBe(700);
    if (text !== null) {
      const type = text === '!begins' ? 'response.created' : 'response.done';
      const answered = text === '!closes' ? once(socket, 'close') : heard(socket, type);
      say(socket, text);
      await answered;
    }
    if (text !== '!closes') await leave(socket);
    await leaves(gw, 700 - spent);
  });

  it('reserves for each response of those that are under way at once', async () => {
    const gw = await start([limit({ quota: 1000, reserve: 300 })]);
    const { socket } = await session(gw);
    const end = closed(socket);
    for (let i = 0; i < 4; i++) say(socket, '!begins');
    const { code, reason } = await end;
    expect([code, reason]).toEqual([1008, expect.stringMatching(/^token_limit_exceeded/)]);
    // Nobody knows what the three have cost that were admitted.
    await gw.logged(({ close_code: closing }) => closing === 1008);
    expect((await refused(`${gw.url}${PATH}`)).status).toBe(429);
  });

  it('charges a response that is over beside one that is not', async () => {
    const gw = await start([limit({ quota: 1000, reserve: 200 })]);
    const { socket, done } = await session(gw);
    say(socket, '!begins');
    say(socket);
    await eventually(() => expect(done()).toBe(1));
    await leave(socket);
    await leaves(gw, 1000 - 200 - SPENT - 200);
  });

  it('gives back what was reserved where the provider refuses', async () => {
    const gw = await start([limit({ quota: 1000, reserve: 300 })]);
    expect((await refused(`${gw.url}/v1/realtime?model=status-400`)).status).toBe(400);
    await leaves(gw, 700);
  });

  it.skipIf(REDIS_URL === undefined)('is settled by a gateway that stops (needs REDIS_URL)', async () => {
    const middlewares = [limit({ quota: 1000, reserve: 300 })];
    const args = ['--state', String(REDIS_URL)];
    const gw = await start(middlewares, ...args);
    const { socket } = await session(gw);
    const answered = heard(socket);
    say(socket);
    await answered;
    await gw.stop();
    await leaves(await start(middlewares, ...args), 700 - SPENT);
  });
});

/** An event of this type has come. */
function heard(socket: WebSocket, type = 'response.done'): Promise<void> {
  return new Promise((resolve) => {
    socket.on('message', (data) => {
      if (String(data).includes(`"${type}"`)) resolve();
    });
  });
}

describe('ai-cost-tracker', () => {
  it('counts each response, and closes the session when a budget is used up', async () => {
    const tracker = {
      name: 'ai-cost-tracker',
      config: {
        price_unit: 1000,
        // 0.448 dollars for each response of the fake.
        prices: { 'provider_chat/gpt-*': { prompt: 1, completion: 1, audio_prompt: 2, audio_completion: 3 } },
        default_profile: 'all',
        profiles: { all: { reserve: 100, budgets: [{ limit_usd: 0.8, period: 'year', partition_key: 'all' }] } },
        policy_name: crypto.randomUUID(),
      },
    };
    const gw = await start([tracker]);
    const { socket, done } = await session(gw);
    say(socket);
    await eventually(() => expect(done()).toBe(1));
    const end = closed(socket);
    say(socket);
    const { code, reason } = await end;
    expect([code, reason]).toEqual([1008, expect.stringMatching(/^budget_exceeded; try again in \d+ s$/)]);
    const line = await gw.logged(({ ai_responses: responses }) => responses === 2);
    expect(line).toMatchObject({ ai_cost_usd: 0.896, close_code: 1008, closed_by: 'gateway' });
    expect(
      (await scrape(gw.admin)).value('gw_plugin_ai_cost_tracker_cost_usd_total', {
        provider: 'provider_chat',
        model: 'provider_chat/gpt-*',
        consumer: '',
      }),
    ).toBeCloseTo(0.896);
    const answer = await refused(`${gw.url}${PATH}`);
    expect([answer.status, JSON.parse(answer.body).code]).toEqual([429, 'budget_exceeded']);
  });

  it('refuses a session of a model without a price under a budget', async () => {
    const budgets = [{ limit_usd: 1, period: 'day', partition_key: 'all' }];
    const config = { prices: {}, default_profile: 'all', profiles: { all: { budgets } } };
    const gw = await start([{ name: 'ai-cost-tracker', config }]);
    const answer = await refused(`${gw.url}${PATH}`);
    expect([answer.status, JSON.parse(answer.body).code]).toEqual([403, 'model_not_priced']);
  });
});
