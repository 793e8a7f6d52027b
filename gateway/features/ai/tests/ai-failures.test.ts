/** AI providers that answer badly, late or not at all, and clients that leave or do not read. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FakeProvider } from '../../../../test/ai/fake-provider.ts';
import { eventually } from '../../../../test/eventually.ts';
import { jsonOf } from '../../../../test/serve/gateway.ts';
import { raw } from '../../../../test/serve/http.ts';
import { type AiRig, ASKED, chunksOf, dataOf, last, PATH, startAi, textOf } from './ai-gateway.ts';

let rig: AiRig;
let gw: AiRig['gw'];
let chat: FakeProvider;
let messages: FakeProvider;
const post: AiRig['post'] = (...asked) => rig.post(...asked);
const events: AiRig['events'] = (...asked) => rig.events(...asked);

beforeAll(async () => {
  rig = await startAi();
  ({ gw, chat, messages } = rig);
});
afterAll(async () => expect(await rig.close()).toBe(0));

/** Streams with status 200 that have no event of their protocol. */
const NO_STREAM = ['garbage', 'page', 'comments', 'other-json', 'error-at-once'];

describe('a provider that fails', () => {
  it.each([
    ...['status-500', 'half', 'garbage'].map((how) => [how, false] as const),
    ...['status-503', 'cut', 'empty', 'silent', 'endless-comments', ...NO_STREAM].map((how) => [how, true] as const),
  ])('gives way to the next: %s, stream %s', async (how, stream) => {
    const response = await post('/fallback', { ...ASKED, model: `chat:${how}`, stream });
    expect(response.status).toBe(200);
    const text = await response.text();
    const said = stream ? textOf(chunksOf(dataOf(text))) : JSON.parse(text).choices[0].message.content;
    expect(said).toBe('Guten Tag, schöne Welt');
    expect(last(messages)?.body['model']).toBe(`chat:${how}`);
  });

  it.each(['status-500', 'garbage', 'half', 'silent', 'costly'])(
    'is 502 where there is no other: %s',
    async (model) => {
      const response = await post(PATH, { ...ASKED, model });
      expect(response.status).toBe(502);
      expect(await jsonOf(response)).toMatchObject({ type: 'urn:gw:error:upstream-failed', error: { code: null } });
    },
  );

  it.each(['cut', 'empty', 'status-529', ...NO_STREAM])('is 502 where its stream never begins: %s', async (model) => {
    for (const path of [PATH, '/v1/messages', '/chat/v1/messages']) {
      expect((await post(path, { ...ASKED, model, max_tokens: 9, stream: true })).status).toBe(502);
    }
  });

  it('that sends nothing but comments is 502', async () => {
    expect((await post(PATH, { ...ASKED, model: 'endless-comments', stream: true })).status).toBe(502);
  });

  it.each([
    ['7', '7'],
    ['1000000000000', '86400'],
    ['Thu, 01 Jan 1970 00:00:00 GMT', '0'],
    ['soon', null],
    ['-1', null],
    ['1e9', null],
  ])('that says when to come back is passed on where it is a time: %s', async (says, passed) => {
    const response = await post(PATH, { ...ASKED, model: `chat:retry-after-${says}` });
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, passed]);
  });

  it('has its comments passed on, once its stream has begun', async () => {
    const response = await post(PATH, { ...ASKED, model: 'late', stream: true });
    expect((await response.text()).startsWith(': wait\n\n: keep-alive\n\ndata: {')).toBe(true);
  });

  it('is 502 where nothing listens, and is given time then', async () => {
    for (let i = 0; i < 5; i++) expect((await post('/nowhere')).status).toBe(502);
    const response = await post('/nowhere');
    expect(response.status).toBe(502);
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  it('is not asked for again what it refused', async () => {
    const before = messages.seen.length;
    const response = await post('/fallback', { ...ASKED, model: 'status-400' });
    expect([response.status, await jsonOf(response)]).toMatchObject([400, { error: { message: 'planted' } }]);
    expect(messages.seen.length).toBe(before);
  });

  it('gives way to no target that does not permit the model', async () => {
    const before = messages.seen.length;
    expect((await post('/fallback', { ...ASKED, model: 'only-gpt', messages: [] })).status).toBe(400);
    expect(messages.seen.length).toBe(before);
  });

  it.each(['half', 'huge', 'stalls', 'costly'])('ends a stream that has begun with an error: %s', async (model) => {
    for (const path of [PATH, '/messages']) {
      const chunks = chunksOf(await events(path, { model }));
      expect(chunks.at(-1)).toEqual({
        error: {
          message: 'The provider ended its answer before it was whole.',
          type: 'server_error',
          param: null,
          code: 'upstream_failed',
        },
      });
      expect(chunks.length).toBeGreaterThan(1);
    }
  });

  it.each(['lines', 'comments-later', 'pings', 'lines-of-data'])(
    'ends a stream that says nothing without an end: %s',
    async (model) => {
      const open = messages.open.size;
      expect(chunksOf(await events('/messages', { model })).at(-1)).toMatchObject({
        error: { code: 'upstream_failed' },
      });
      await eventually(() => messages.open.size <= open);
    },
  );

  it('says its own error in a stream', async () => {
    expect(chunksOf(await events('/messages', { model: 'overloaded-later' })).at(-1)).toEqual({
      error: { message: 'Overloaded', type: 'server_error', param: null, code: 'overloaded_error' },
    });
    expect((await post('/messages', { ...ASKED, model: 'overloaded-at-once', stream: true })).status).toBe(502);
  });

  it.each([PATH, '/messages'])('is found out where its stream ends before its answer: %s', async (path) => {
    expect(chunksOf(await events(path, { model: 'ends-early' })).at(-1)).toHaveProperty('error');
  });
});

describe('a client', () => {
  it('that leaves ends the request to the provider', async () => {
    const before = chat.open.size;
    for (const model of ['stalls', 'endless', 'silent']) {
      const leaves = new AbortController();
      const asking = post(PATH, { ...ASKED, model, stream: true }, { signal: leaves.signal });
      await eventually(() => last(chat)?.body['model'] === model);
      if (model !== 'silent') await asking;
      leaves.abort();
      await asking.then(
        () => {},
        () => {},
      );
      await eventually(() => chat.open.size <= before + 1);
    }
  });

  it('that reads nothing stops its provider, and nobody else', async () => {
    const { socket, all } = raw(Number(new URL(gw.url).port));
    socket.pause();
    const body = JSON.stringify({ ...ASKED, model: 'endless', stream: true });
    const head = `POST ${PATH} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n`;
    socket.write(`${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    await eventually(() => chat.endlessly.bytes > 0);
    await eventually(async () => {
      const before = chat.endlessly.bytes;
      for (let i = 0; i < 20; i++) expect((await post(PATH)).status).toBe(200);
      return chat.endlessly.bytes === before;
    });
    socket.destroy();
    await all;
  });
});
