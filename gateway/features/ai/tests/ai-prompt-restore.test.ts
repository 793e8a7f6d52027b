/** Personal data that ai-prompt-guard keeps from providers and puts back into answers, through a real `gw serve`. */
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Gateway } from '../../../../test/serve/gateway.ts';
import { startUpstream, type Upstream } from '../../../../test/serve/upstream.ts';
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

const pii = { email: 'redact', phone: 'redact', card: 'mask', iban: 'hash' };
const guard = (restore: readonly string[], more: object = {}) => ({
  name: 'ai-prompt-guard',
  config: {
    default_profile: 'all',
    profiles: { all: { pii, restore, ...more } },
    hash_key: 'env://HASH_KEY',
  },
});
const restores = guard(['email', 'iban']);
const answers = {
  name: 'ai-response-guard',
  config: { default_profile: 'all', profiles: { all: { pii: { email: 'redact', phone: 'redact' } } } },
};

let gw: Gateway;
let providers: CachedProviders;
let caller: Upstream;
beforeAll(async () => {
  providers = await startProviders();
  caller = await startUpstream((_request, response, body) => callsWith(body, response));
  const chat = onChat(providers);
  gw = await startCached({
    '/v1/chat/completions': operation(chat, [auth, restores]),
    '/v1/responses': operation(chat, [auth, restores]),
    '/v1/messages': operation(onMessages(providers), [auth, restores]),
    '/guarded/v1/chat/completions': operation({ ...chat, base_url: caller.url }, [auth, restores, answers]),
    '/twice/v1/chat/completions': operation(chat, [
      auth,
      guard(['email'], { pii: { email: 'redact' } }),
      guard(['phone']),
    ]),
    '/cached/v1/chat/completions': operation(chat, [auth, restores, cached()]),
    '/calls/v1/chat/completions': operation({ ...chat, base_url: caller.url }, [auth, restores]),
  });
});
afterAll(async () => {
  expect(await gw.stop()).toBe(0);
  await Promise.all([providers.close(), caller.close()]);
});

/** Answers with a call that has the first placeholder of the prompt in its arguments; cuts them to pieces where it streams. */
function callsWith(body: string, response: import('node:http').ServerResponse): void {
  const { stream, model } = JSON.parse(body);
  const [placeholder = 'none'] = /\[EMAIL_[a-z]+\]/.exec(body) ?? [];
  const text = JSON.stringify({ to: placeholder, note: 'a "quoted" one' });
  const call = (each: string) => [{ index: 0, id: 'c', type: 'function', function: { name: 'mail', arguments: each } }];
  if (stream !== true) {
    const invents = model === 'invents';
    const content = invents ? `${placeholder} knows eve@example.com` : null;
    const message = { role: 'assistant', content, ...(invents ? {} : { tool_calls: call(text) }) };
    response.setHeader('content-type', 'application/json');
    return void response.end(
      JSON.stringify({ id: 'c', model, choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }),
    );
  }
  response.setHeader('content-type', 'text/event-stream');
  const chunk = (delta: object, finish_reason: string | null = null) =>
    response.write(`data: ${JSON.stringify({ id: 'c', model, choices: [{ index: 0, delta, finish_reason }] })}\n\n`);
  for (const each of text) chunk({ tool_calls: call(each) });
  chunk({}, 'tool_calls');
  response.end('data: [DONE]\n\n');
}

const SAID =
  'Write to ann@example.com, not to bob@example.com; ann@example.com pays from DE89 3704 0044 0532 0130 00. Call +49 30 1234567.';
const HEARD = SAID.replace('+49 30 1234567', '[PHONE]');
const client = () =>
  new OpenAI({
    baseURL: `${gw.url}/v1`,
    apiKey: 'unused',
    maxRetries: 0,
    defaultHeaders: { 'x-api-key': ENV.ANN_KEY },
  });
const told = () => providers.chat.seen.at(-1)?.text ?? '';
const textOf = (body: string): string => JSON.parse(body).choices[0].message.content;

describe('what is put back', () => {
  it('never reaches the provider, and is in the answer, whole and streamed', async () => {
    for (const stream of [false, true]) {
      const { text, status } = await post(gw, '/v1/chat/completions', ask(SAID, { stream }));
      expect(status).toBe(200);
      expect(told()).not.toMatch(/example\.com|DE89|1234567/);
      expect(told().match(/\[EMAIL_[a-z]{10}\]/g)).toHaveLength(3);
      expect(new Set(told().match(/\[EMAIL_[a-z]{10}\]/g)).size).toBe(2);
      expect(told()).toMatch(/\[IBAN:[0-9a-f]{12}\]/);
      if (!stream) expect(textOf(text)).toBe(HEARD);
    }
  });

  it('is read by the official client, in chat completions and responses', async () => {
    const completion = { model: 'gpt-5', messages: [{ role: 'user' as const, content: SAID }] };
    expect((await client().chat.completions.create(completion)).choices[0]?.message.content).toBe(HEARD);
    let streamed = '';
    for await (const chunk of await client().chat.completions.create({ ...completion, stream: true }))
      streamed += chunk.choices[0]?.delta.content ?? '';
    expect(streamed).toBe(HEARD);
    expect((await client().responses.create({ model: 'gpt-5', input: SAID })).output_text).toBe(HEARD);
    let deltas = '';
    for await (const event of await client().responses.create({ model: 'gpt-5', input: SAID, stream: true })) {
      if (event.type === 'response.output_text.delta') deltas += event.delta;
      if (event.type === 'response.completed') expect(event.response.output_text ?? HEARD).toBe(HEARD);
    }
    expect(deltas).toBe(HEARD);
  });

  it('comes to clients of messages, and in whatever bytes the stream comes', async () => {
    const { text } = await post(gw, '/v1/messages', ask(SAID, { max_tokens: 9 }));
    expect(JSON.parse(text).content[0].text).toBe(HEARD);
    const streamed = await post(gw, '/v1/chat/completions', ask(SAID, { model: 'byte-by-byte', stream: true }));
    const deltas = [...streamed.text.matchAll(/"content":("(?:[^"\\]|\\.)*")/g)].map(([, each = '""']) =>
      JSON.parse(each),
    );
    expect(deltas.join('')).toBe(HEARD);
  });

  it('is in arguments of calls, which stay JSON', async () => {
    const whole = await post(gw, '/calls/v1/chat/completions', ask(SAID));
    const [call] = JSON.parse(whole.text).choices[0].message.tool_calls;
    expect(JSON.parse(call.function.arguments)).toEqual({ to: 'ann@example.com', note: 'a "quoted" one' });
    const { text } = await post(gw, '/calls/v1/chat/completions', ask(SAID, { stream: true }));
    const pieces = [...text.matchAll(/^data: (\{.*)$/gm)].map(
      ([, data = '']) => JSON.parse(data).choices[0].delta.tool_calls?.[0].function.arguments ?? '',
    );
    expect(JSON.parse(pieces.join(''))).toEqual({ to: 'ann@example.com', note: 'a "quoted" one' });
  });

  it('is what the client has sent, while what the model makes up is taken out', async () => {
    const { text } = await post(gw, '/guarded/v1/chat/completions', ask(SAID, { model: 'invents' }));
    expect(textOf(text)).toBe('ann@example.com knows [EMAIL]');
  });

  it('is all that several guards have taken out', async () => {
    const { text } = await post(gw, '/twice/v1/chat/completions', ask('ann@example.com or +49 30 1234567'));
    expect(told()).not.toMatch(/example\.com|1234567/);
    expect(textOf(text)).toBe('ann@example.com or +49 30 1234567');
  });
});

describe('placeholders', () => {
  const sent = async (content: string, key: string | null, path = '/v1/chat/completions') => {
    await post(gw, path, ask(content), { key });
    return /\[EMAIL_[a-z]+\]/.exec(told())?.[0] ?? '';
  };

  it('are the same for the same value of a consumer, and others for another', async () => {
    const [first, again] = [
      await sent('ann@example.com', ENV.ANN_KEY),
      await sent('I am ann@example.com', ENV.ANN_KEY),
    ];
    expect(first).toBe(again);
    expect(await sent('ann@example.com', ENV.BOB_KEY)).not.toBe(first);
  });

  it('of another request stay what they are', async () => {
    const forged = await sent('ann@example.com', ENV.ANN_KEY);
    for (const content of [`Who is ${forged}?`, `Who is ${forged}, bob@example.com?`]) {
      const { text } = await post(gw, '/v1/chat/completions', ask(content));
      expect(textOf(text)).toBe(content);
      expect(text).not.toContain('ann@example.com');
    }
  });

  it('are what is stored by ai-cache, and each client gets what it has sent', async () => {
    const content = `${crypto.randomUUID()} ann@example.com`;
    for (const stream of [false, true]) {
      const first = await post(gw, '/cached/v1/chat/completions', ask(content, { stream }));
      const second = await post(gw, '/cached/v1/chat/completions', ask(content, { stream }));
      expect(first.says).toBe(`gw;fwd=miss;${stream ? 'detail=stored-if-whole' : 'stored'}`);
      expect(second.says).toMatch(/^gw;hit/);
      expect(second.text).toBe(first.text);
      expect(second.text).toContain('ann@example.com');
    }
  });
});

it('logs nothing of it', () => {
  expect(JSON.stringify(gw.log)).not.toMatch(/example\.com|DE89|EMAIL_/);
});
