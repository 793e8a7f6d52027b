/** Answers of providers that are encoded although nobody asked for it, or begin with a byte order mark; media types of pictures. */
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  eventsOf,
  type ScriptedProvider,
  startScriptedProvider,
  typedEventsOf,
} from '../../../../test/ai/scripted-provider.ts';
import type { Gateway } from '../../../../test/serve/gateway.ts';
import { cached, operation, post, startCached } from './ai-cached-project.ts';

let provider: ScriptedProvider;
let gw: Gateway;
beforeAll(async () => {
  provider = await startScriptedProvider();
  const on = (name: string) => ({ provider: name, base_url: provider.url, max_tokens: 99 });
  const guard = {
    name: 'ai-response-guard',
    config: { default_profile: 'all', profiles: { all: { blocked_patterns: ['never said'] } } },
  };
  const models = JSON.parse(
    JSON.stringify({ get: { ...operation(on('provider_chat'), []).post, requestBody: undefined } }),
  );
  gw = await startCached({
    '/v1/models': models,
    '/v1/chat/completions': operation(on('provider_chat'), []),
    '/v1/messages': operation(on('provider_chat'), []),
    '/messages/v1/chat/completions': operation(on('provider_messages'), []),
    '/guarded/v1/chat/completions': operation(on('provider_chat'), [cached({ share: 'all' }), guard]),
  });
});
afterAll(async () => {
  expect(await gw.stop()).toBe(0);
  await provider.close();
});

const ask = (path: string, model: string, more: object = {}) =>
  post(gw, path, { model, max_tokens: 9, messages: [{ role: 'user', content: 'Hello' }], ...more }, { key: null });

const head = { id: 'c', object: 'chat.completion', created: 1, model: 'm' };
const completion = {
  ...head,
  choices: [{ index: 0, message: { role: 'assistant', content: 'wéll' }, finish_reason: 'stop' }],
};
const chunk = (delta: object, finish: string | null = null) => ({
  ...head,
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const chunks = eventsOf(chunk({ content: 'wéll' }), chunk({}, 'stop'), '[DONE]');
const usage = { input_tokens: 1, output_tokens: 1 };
const message = { id: 'm', type: 'message', role: 'assistant', model: 'm', usage };
const whole = { ...message, content: [{ type: 'text', text: 'wéll' }], stop_reason: 'end_turn' };
const events = typedEventsOf(
  { type: 'message_start', message: { ...message, content: [] } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'wéll' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage },
  { type: 'message_stop' },
);
const [JSON_TYPE, EVENTS] = ['application/json', 'text/event-stream'];

const CODINGS: readonly (readonly [name: string, encode: (text: string) => Buffer])[] = [
  ['gzip', gzipSync],
  ['GZIP', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
];
/** Path, and what its provider answers, whole and as a stream. */
const WAYS = [
  ['/v1/chat/completions', JSON.stringify(completion), chunks],
  ['/v1/messages', JSON.stringify(completion), chunks],
  ['/messages/v1/chat/completions', JSON.stringify(whole), events],
  ['/guarded/v1/chat/completions', JSON.stringify(completion), chunks],
] as const;

describe('an answer that is encoded', () => {
  it.each(CODINGS)('in %s is read all the same, whole, in streams and in errors', async (name, encode) => {
    for (const [path, body, stream] of WAYS) {
      for (const streams of [false, true]) {
        const model = `${name} ${path} ${streams}`;
        const type = streams ? EVENTS : JSON_TYPE;
        const headers = { 'content-encoding': name, 'content-type': type };
        provider.answers(model, { headers, body: encode(streams ? stream : body) });
        const answer = await ask(path, model, { stream: streams });
        expect([answer.status, answer.headers.get('content-encoding')]).toEqual([200, null]);
        expect(answer.text).toContain('wéll');
      }
    }
    const headers = { 'content-encoding': name, 'content-type': JSON_TYPE };
    provider.answers(`error ${name}`, { status: 400, headers, body: encode('{"error":{"message":"planted"}}') });
    expect(JSON.parse((await ask('/v1/chat/completions', `error ${name}`)).text).error.message).toBe('planted');
    provider.answers('', { headers, body: encode('{"data":[{"id":"listed"}]}') });
    expect(await (await fetch(`${gw.url}/v1/models`)).text()).toContain('listed');
  });

  it.each([
    ['has more than 16 MiB', 'gzip', gzipSync(Buffer.alloc(17 << 20))],
    ['is cut', 'gzip', gzipSync(JSON.stringify(completion)).subarray(0, 60)],
    ['is something else', 'gzip', Buffer.from(JSON.stringify(completion))],
    ['has another encoding', 'compress', Buffer.from(JSON.stringify(completion))],
    ['is encoded twice', 'gzip, br', Buffer.from(JSON.stringify(completion))],
  ])('and %s has failed', async (what, coding, body) => {
    for (const [type, stream] of [
      [JSON_TYPE, false],
      [EVENTS, true],
    ] as const) {
      const model = `${what} ${stream}`;
      provider.answers(model, { headers: { 'content-encoding': coding, 'content-type': type }, body });
      expect((await ask('/v1/chat/completions', model, { stream })).status).toBe(502);
    }
  });

  it('and breaks off in a stream ends with an error', async () => {
    const long = eventsOf(...Array.from({ length: 2000 }, (_, i) => chunk({ content: `wéll ${i * 7919}` })));
    const bytes = gzipSync(long);
    const headers = { 'content-encoding': 'gzip', 'content-type': EVENTS };
    provider.answers('breaks off', { headers, body: bytes.subarray(0, bytes.length - 20) });
    const { status, text } = await ask('/v1/chat/completions', 'breaks off', { stream: true });
    expect([status, text.includes('wéll 0'), text.includes('upstream_failed')]).toEqual([200, true, true]);
  });
});

describe('a byte order mark', () => {
  it.each(WAYS)('costs nothing of an answer: %s', async (path, body, stream) => {
    for (const streams of [false, true]) {
      const model = `mark ${path} ${streams}`;
      const headers = { 'content-type': streams ? EVENTS : JSON_TYPE };
      provider.answers(model, { headers, body: `\ufeff${streams ? stream : body}` });
      const first = await ask(path, model, { stream: streams });
      expect([first.status, first.text.includes('wéll')]).toEqual([200, true]);
      const again = await ask(path, model, { stream: streams });
      if (path.startsWith('/guarded')) expect(again.says).toMatch(/^gw;hit/);
    }
  });

  it('is none of a request', async () => {
    provider.answers('marked request', { body: JSON.stringify(completion) });
    const sent = JSON.stringify({ model: 'marked request', messages: [{ role: 'user', content: 'Hello' }] });
    const response = await fetch(`${gw.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': JSON_TYPE },
      body: `\ufeff${sent}`,
    });
    expect(response.status).toBe(200);
  });
});

it.each([
  ['image/jpg', 'image/jpeg'],
  ['IMAGE/JPG', 'image/jpeg'],
  ['image/pjpeg', 'image/jpeg'],
  ['image/png', 'image/png'],
])('a picture that is called %s is %s to the provider, in both directions', async (named, registered) => {
  provider.answers('picture', { body: JSON.stringify(whole) });
  const url = `data:${named};base64,aGk=`;
  const shown = [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }];
  await ask('/messages/v1/chat/completions', 'picture', { messages: shown });
  const source = { type: 'base64', media_type: registered, data: 'aGk=' };
  expect(JSON.parse(provider.requests('picture').at(-1)?.text ?? '').messages[0].content).toEqual([
    { type: 'image', source },
  ]);
  const given = [{ role: 'user', content: [{ type: 'image', source: { ...source, media_type: named } }] }];
  await ask('/v1/messages', 'picture', { messages: given });
  expect(provider.requests('picture').at(-1)?.text).toContain(`data:${registered};base64,aGk=`);
});
