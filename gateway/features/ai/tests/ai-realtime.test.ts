/** ai-proxy on `/v1/realtime`: sessions of a provider, passed through and counted. */
import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { WebSocket } from 'ws';
import { CHAT_KEY } from '../../../../test/ai/chat-provider.ts';
import { USAGE } from '../../../../test/ai/realtime-events.ts';
import { type RealtimeProvider, startRealtimeProvider } from '../../../../test/ai/realtime-provider.ts';
import { eventually } from '../../../../test/eventually.ts';
import { compileSpec, type Gateway, startGateway } from '../../../../test/serve/gateway.ts';
import { h2session } from '../../../../test/serve/http.ts';
import { scrape } from '../../../../test/serve/scrape.ts';
import {
  closed,
  connecting,
  frame,
  handshake,
  leaveAll,
  RawClient,
  refused,
} from '../../../../test/serve/web-sockets.ts';

const SHOP_KEY = 'shop-key-0123456789';
const QUERY_KEY = { key_location: 'query', query_param: 'key', keys: [{ key: 'env://SHOP_KEY', id: 'shop' }] };
let one: RealtimeProvider;
let two: RealtimeProvider;
let gw: Gateway;
const base = (url: string) => ({ provider: 'provider_chat', api_key: 'env://CHAT_KEY', base_url: url });
const operation = (config: object, middlewares: readonly object[] = []) => ({
  get: {
    responses: { default: { description: 'any' } },
    'x-gw-middlewares': middlewares,
    'x-gw-dispatch': { name: 'ai-proxy', config },
  },
});
const guard = (settings: object = {}) => ({ default_profile: 'p', profiles: { p: {} }, ...settings });

beforeAll(async () => {
  [one, two] = await Promise.all([startRealtimeProvider('one'), startRealtimeProvider('two')]);
  const onOne = base(one.url);
  const endpoints = [{ base_url: one.url }, { base_url: two.url }];
  const paths = {
    '/v1/realtime': operation({
      ...onOne,
      timeout: 1,
      aliases: { voice: { model: 'gpt-realtime' } },
      routes: [{ pattern: 'denied*', ...onOne, deny: ['*'] }],
    }),
    '/v1/realtime/client_secrets': { post: operation(onOne).get },
    '/slow/v1/realtime': operation({ ...onOne, timeout: 3600 }),
    '/fallback/v1/realtime': operation({ ...onOne, timeout: 1, fallback: [base(two.url)] }),
    '/endpoints/v1/realtime': operation({ ...onOne, endpoints, timeout: 1 }),
    '/messages/v1/realtime': operation({ ...onOne, provider: 'provider_messages' }),
    '/local/v1/realtime': operation({ ...onOne, provider: 'provider_local' }),
    '/keyed/v1/realtime': {
      get: { ...operation(onOne, [{ name: 'apikey-auth', config: QUERY_KEY }]).get, security: [{ key: [] }] },
    },
    '/idle/v1/realtime': operation({ ...onOne, realtime_idle_timeout: 0.2 }),
    '/prompt-guard/v1/realtime': operation(onOne, [{ name: 'ai-prompt-guard', config: guard() }]),
    '/response-guard/v1/realtime': operation(onOne, [{ name: 'ai-response-guard', config: guard() }]),
    '/cache/v1/realtime': operation(onOne, [{ name: 'ai-cache', config: {} }]),
    '/template/v1/realtime': operation(onOne, [{ name: 'ai-prompt-template', config: guard() }]),
    '/unread/v1/realtime': operation(onOne, [
      { name: 'ai-prompt-guard', config: guard({ on_realtime: 'allow' }) },
      { name: 'ai-response-guard', config: guard({ on_realtime: 'allow' }) },
      { name: 'ai-cache', config: { on_realtime: 'allow' } },
      { name: 'ai-prompt-template', config: guard({ on_realtime: 'allow' }) },
    ]),
  };
  const plugins = ['ai-proxy', 'ai-prompt-guard', 'ai-response-guard', 'ai-cache', 'ai-prompt-template', 'apikey-auth'];
  const components = { securitySchemes: { key: { type: 'apiKey', in: 'query', name: 'key' } } };
  const document = { openapi: '3.1.0', info: { title: 'realtime', version: '1' }, components, paths };
  gw = await startGateway(await compileSpec(document, plugins), { env: { CHAT_KEY, SHOP_KEY } });
});
afterEach(async () => {
  leaveAll();
  // Whatever a test has done, nothing is left of it.
  await eventually(() => expect([...one.connections, ...two.connections]).toEqual([]));
});
afterAll(async () => {
  expect(await gw?.stop()).toBe(0);
  await Promise.all([one?.close(), two?.close()]);
});

/** A session that is open, and what has come of its events. */
async function session(path: string, protocols: string[] = [], headers: Record<string, string> = {}) {
  const socket = connecting(`${gw.url}${path}`, protocols, { headers });
  const events: { readonly type: string; readonly [name: string]: unknown }[] = [];
  socket.on('message', (data) => {
    const text = String(data);
    if (text.endsWith('}')) events.push(JSON.parse(text));
  });
  await once(socket, 'open');
  return { socket, events };
}

function say(socket: WebSocket, text: string): void {
  const item = { type: 'message', role: 'user', content: [{ type: 'input_text', text }] };
  socket.send(JSON.stringify({ type: 'conversation.item.create', item }));
  socket.send(JSON.stringify({ type: 'response.create' }));
}

const OF = 'gw_plugin_ai_proxy_';

async function counts() {
  const metrics = await scrape(gw.admin);
  const provider = 'provider_chat';
  const of = (name: string, type: string) => metrics.value(`${OF}${name}_total`, { provider, type });
  return {
    prompt: of('tokens', 'prompt'),
    completion: of('tokens', 'completion'),
    cached: of('token_details', 'cached'),
    promptAudio: of('token_details', 'prompt_audio'),
    completionAudio: of('token_details', 'completion_audio'),
    uncounted: metrics.value(`${OF}realtime_uncounted_total`, { provider }),
  };
}

type Counts = Awaited<ReturnType<typeof counts>>;

/** What is counted between then and now, as soon as it is this. */
function counted(before: Counts, more: Partial<Counts>) {
  return eventually(async () => {
    const now = await counts();
    const names = Object.keys(before) as (keyof Counts)[];
    expect(Object.fromEntries(names.map((name) => [name, now[name] - before[name]]))).toEqual({
      ...Object.fromEntries(names.map((name) => [name, 0])),
      ...more,
    });
  });
}

const ONE_RESPONSE = {
  prompt: USAGE.input_tokens,
  completion: USAGE.output_tokens,
  cached: 64,
  promptAudio: 13,
  completionAudio: 91,
};

const last = () => one.seen.at(-1);

describe('a realtime session', () => {
  it('passes both ways, and its responses are counted', async () => {
    const before = await counts();
    const { socket, events } = await session('/v1/realtime?model=gpt-realtime', [], { authorization: 'Bearer client' });
    say(socket, 'Guten Tag, schöne Welt');
    await eventually(() => expect(events.at(-1)?.type).toBe('rate_limits.updated'));
    expect(events.find(({ type }) => type === 'response.output_text.done')?.['text']).toBe('Guten Tag, schöne Welt');
    await counted(before, ONE_RESPONSE);
    say(socket, 'again');
    const twice = Object.fromEntries(Object.entries(ONE_RESPONSE).map(([name, each]) => [name, 2 * each]));
    await counted(before, twice);
    expect(last()?.url).toBe('/v1/realtime?model=gpt-realtime');
    expect(last()?.headers).toMatchObject({ authorization: `Bearer ${CHAT_KEY}`, 'user-agent': 'gw' });
    socket.close(1000);
    await closed(socket);
    await eventually(() =>
      expect(gw.log.findLast(({ ai_responses: count }) => count === 2)).toMatchObject({
        ai_model: 'gpt-realtime',
        ai_provider: 'provider_chat',
        ai_prompt_tokens: 264,
        ai_completion_tokens: 242,
        ai_cached_tokens: 128,
        close_code: 1000,
        closed_by: 'client',
      }),
    );
  });

  it('goes on uncompressed, since it is read', async () => {
    const { socket } = await session('/v1/realtime?model=m');
    expect(socket.extensions).toBe('');
    expect(last()?.headers['sec-websocket-extensions']).toBeUndefined();
  });

  it('never has a key of the client, also not in a sub-protocol', async () => {
    const { socket } = await session('/v1/realtime?model=m', [
      ...['realtime', 'openai-insecure-api-key.sk-of-the-client', 'openai-organization.org', 'openai-project.p'],
      'openai-beta.realtime-v1',
    ]);
    expect(socket.protocol).toBe('realtime');
    expect(last()?.headers['sec-websocket-protocol']?.split(/, */)).toEqual(['realtime', 'openai-beta.realtime-v1']);
    expect(JSON.stringify(last()?.rawHeaders)).not.toMatch(/sk-of-the-client|organization|project/);
  });

  it('may have the key of the gateway in the query, as browsers need it', async () => {
    await session(`/keyed/v1/realtime?model=m&key=${SHOP_KEY}`);
    expect(last()?.url).toBe('/v1/realtime?model=m');
    expect((await refused(`${gw.url}/keyed/v1/realtime?model=m&key=other`)).status).toBe(401);
  });

  it('has the model that an alias stands for', async () => {
    await session('/v1/realtime?model=voice');
    expect(last()?.url).toBe('/v1/realtime?model=gpt-realtime');
  });

  it.each([
    ['/v1/realtime', 400, 'model_required'],
    ['/v1/realtime?model=', 400, 'model_required'],
    ['/v1/realtime?model=a&model=b', 400, 'invalid_request'],
    ['/v1/realtime?model=a&call_id=b', 400, 'invalid_request'],
    [`/v1/realtime?model=${'x'.repeat(300)}`, 400, 'invalid_request'],
    ['/v1/realtime?model=denied-1', 403, 'model_not_permitted'],
    ['/messages/v1/realtime?model=m', 400, 'realtime_not_supported_for_provider'],
    ['/local/v1/realtime?model=m', 400, 'realtime_not_supported_for_provider'],
    ['/prompt-guard/v1/realtime?model=m', 403, 'realtime_not_permitted'],
    ['/response-guard/v1/realtime?model=m', 403, 'realtime_not_permitted'],
    ['/cache/v1/realtime?model=m', 403, 'realtime_not_permitted'],
    ['/template/v1/realtime?model=m', 403, 'realtime_not_permitted'],
  ])('of %s is refused before it opens: %i %s', async (path, status, code) => {
    const answer = await refused(`${gw.url}${path}`);
    expect([answer.status, JSON.parse(answer.body).code]).toEqual([status, code]);
  });

  it('passes policies that let it pass unread', async () => {
    const { socket, events } = await session('/unread/v1/realtime?model=m');
    say(socket, 'unread');
    await eventually(() => expect(events.some(({ type }) => type === 'response.done')).toBe(true));
  });

  it('opens on a stream of HTTP/2', async () => {
    const over = await h2session(gw.url);
    try {
      if (!over.remoteSettings.enableConnectProtocol) await once(over, 'remoteSettings');
      const connect = {
        ':method': 'CONNECT',
        ':protocol': 'websocket',
        ':scheme': 'http',
        'sec-websocket-version': '13',
      };
      const stream = over.request({ ...connect, ':path': '/v1/realtime?model=m' }, { endStream: false });
      let received = '';
      stream.on('data', (chunk) => {
        received += chunk;
      });
      const [answer] = await once(stream, 'response');
      expect(answer[':status']).toBe(200);
      await eventually(() => expect(received).toContain('session.created'));
      const refusing = over.request({ ...connect, ':path': '/v1/realtime?model=status-401' }, { endStream: false });
      expect((await once(refusing, 'response'))[0][':status']).toBe(502);
      stream.close();
      refusing.close();
    } finally {
      over.close();
    }
  });

  it('is no HTTP', async () => {
    const answer = await fetch(`${gw.url}/v1/realtime?model=m`);
    expect([answer.status, answer.headers.get('upgrade')]).toEqual([426, 'websocket']);
  });

  it('ends where nothing comes for long', async () => {
    const { socket } = await session('/idle/v1/realtime?model=m');
    expect(await closed(socket)).toEqual({ code: 1001, reason: 'idle timeout' });
  });
});

describe('a provider that opens no session', () => {
  it.each([
    ['status-401', 502],
    ['status-403', 403],
    ['status-429', 429],
    ['status-500', 502],
    ['silent', 502],
    ['cut', 502],
    ['page', 502],
  ])('%s: %i', async (model, status) => {
    const answer = await refused(`${gw.url}/v1/realtime?model=${model}`);
    expect(answer.status).toBe(status);
    expect(answer.headers['set-cookie']).toBeUndefined();
    if (status === 429) expect(answer.headers['retry-after']).toBe('7');
    if (status < 500) expect(JSON.parse(answer.body).error.code).toBe('planted');
  });

  it.each(['status-503', 'silent', 'cut', 'page'])('%s: another one is asked', async (behaviour) => {
    for (const path of ['/fallback', '/endpoints']) {
      const { socket, events } = await session(`${path}/v1/realtime?model=one:${behaviour}`);
      await eventually(() => expect(events[0]?.type).toBe('session.created'));
      expect(two.open.size).toBe(1);
      socket.close();
      await closed(socket);
      await eventually(() => expect(two.open.size).toBe(0));
    }
  });
});

it('what providers answer to handshakes is counted', async () => {
  const figures = async () => {
    const metrics = await scrape(gw.admin);
    const of = (name: string, labels: Record<string, string>) => metrics.value(`${OF}${name}`, labels);
    const host = '127.0.0.1';
    return {
      opened: of('requests_total', { provider: 'provider_chat', status: '101' }),
      refused: of('requests_total', { provider: 'provider_chat', status: '401' }),
      answered: of('endpoint_requests_total', { endpoint: host, outcome: 'answered' }),
      failed: of('endpoint_requests_total', { endpoint: host, outcome: 'failed' }),
      resolved: of('resolution_total', { resolution: 'flat' }),
    };
  };
  const before = await figures();
  await session('/v1/realtime?model=m');
  await refused(`${gw.url}/v1/realtime?model=status-401`);
  await refused(`${gw.url}/v1/realtime?model=cut`);
  const { opened, refused: denied, answered, failed, resolved } = before;
  await eventually(async () =>
    expect(await figures()).toEqual({
      opened: opened + 1,
      refused: denied + 1,
      answered: answered + 2,
      failed: failed + 1,
      resolved: resolved + 3,
    }),
  );
});

it('no client gets a key of the provider', async () => {
  const asking = { method: 'POST', body: '{"model":"gpt-realtime"}', headers: { 'content-type': 'application/json' } };
  const answer = await fetch(`${gw.url}/v1/realtime/client_secrets`, asking);
  expect([answer.status, Object(await answer.json()).code]).toEqual([400, 'realtime_keys_not_supported']);
});

describe('a client that leaves', () => {
  it('before the session is open ends the handshake with the provider', async () => {
    const before = one.seen.length;
    const client = new RawClient(gw.url, handshake('/slow/v1/realtime?model=silent'));
    await eventually(() => expect(one.seen.length).toBe(before + 1));
    client.socket.destroy();
  });

  it('in an open session ends it at the provider', async () => {
    const { socket } = await session('/v1/realtime?model=m');
    const [provider] = one.open;
    const ended = provider && once(provider, 'close');
    socket.terminate();
    expect((await ended)?.[0]).toBe(1001);
  });
});

describe('a session that goes wrong', () => {
  it('has the close of a provider that closes at once', async () => {
    const { socket } = await session('/v1/realtime?model=closes');
    expect(await closed(socket)).toEqual({ code: 1011, reason: 'planted' });
  });

  it('ends where the provider is lost', async () => {
    const { socket } = await session('/v1/realtime?model=m');
    say(socket, '!closes');
    expect(await closed(socket)).toEqual({ code: 1011, reason: 'the upstream has gone' });
  });

  it('ends where a message is too large', async () => {
    const { socket } = await session('/v1/realtime?model=m');
    say(socket, '!huge');
    expect(await closed(socket)).toEqual({ code: 1011, reason: 'the upstream broke the protocol' });
  });

  it.each(['!large', '!too-much', '!negative', '!uncounted'])('goes on where %s cannot be counted', async (text) => {
    const before = await counts();
    const { socket, events } = await session('/v1/realtime?model=m');
    say(socket, text);
    await eventually(() => expect(events.some(({ type }) => type === 'response.done')).toBe(true));
    say(socket, 'next');
    await counted(before, { ...ONE_RESPONSE, uncounted: 1 });
    await gw.logged(({ msg }) =>
      msg.endsWith(text === '!large' ? 'was passed on unread' : 'no count of its tokens that can be'),
    );
  });

  it.each(['!garbage', '!binary', '!nested', '!failed'])('goes on behind %s', async (text) => {
    const before = await counts();
    const { socket } = await session('/v1/realtime?model=m');
    say(socket, text);
    say(socket, '!pieces');
    await counted(before, ONE_RESPONSE);
  });

  it('ends for a client that breaks the protocol, at the provider as well', async () => {
    const client = new RawClient(gw.url, handshake('/v1/realtime?model=m'));
    await client.until(({ text }) => text.includes('session.created'));
    const [provider] = one.open;
    const ended = provider && once(provider, 'close');
    client.socket.write(frame('unmasked', { masked: false }));
    await client.until(({ ended }) => ended);
    expect(client.frames.includes('a frame is not masked')).toBe(true);
    expect((await ended)?.[0]).toBe(1001);
  });
});

it('a gateway that stops tells both sides', async () => {
  const document = {
    openapi: '3.1.0',
    info: { title: 'stopping', version: '1' },
    paths: { '/v1/realtime': operation(base(one.url)) },
  };
  const stopping = await startGateway(await compileSpec(document, ['ai-proxy']), { env: { CHAT_KEY } });
  const socket = connecting(`${stopping.url}/v1/realtime?model=m`);
  await once(socket, 'open');
  await eventually(() => expect(one.open.size).toBe(1));
  const [provider] = one.open;
  const ended = Promise.all([closed(socket), provider && once(provider, 'close')]);
  expect(await stopping.stop()).toBe(0);
  const [client, upstream] = await ended;
  expect([client, upstream?.[0]]).toEqual([{ code: 1001, reason: 'the gateway is stopping' }, 1001]);
});
