/** stream-subscribe through a real `gw serve`, from a real broker. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { load } from 'js-yaml';
import kafkajs from 'kafkajs';
import lz4 from 'lz4js';
import snappy from 'snappyjs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { eventually } from '../../../../test/eventually.ts';
import { compileSpec, startGateway } from '../../../../test/serve/gateway.ts';
import {
  client,
  createTopic,
  deleteBefore,
  publish,
  publishInTransaction,
} from '../../../../test/serve/kafka-client.ts';
import { scrape } from '../../../../test/serve/scrape.ts';
import type { StreamEvent } from './event-source.ts';
import { streaming } from './streaming.ts';

const { KAFKA_BROKERS: brokers = '' } = process.env;

async function topicOf(partitions = 1): Promise<string> {
  const topic = `t${crypto.randomUUID()}`;
  await createTopic(brokers, topic, partitions);
  return topic;
}

/** An LZ4 frame as brokers want it: it says that its blocks, of which there is one, do not depend on others. */
function independentBlocks(bytes: Buffer): Buffer {
  const frame = Buffer.from(lz4.compress(bytes));
  frame.set([0x60, 0x70, 0x73], 4);
  return frame;
}

const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);
const valuesOf = (events: readonly StreamEvent[]) => events.map(({ data }) => Number(data));
const inOrder = (values: readonly number[]) => values.toSorted((one, other) => one - other);

describe.skipIf(brokers === '')('stream-subscribe (needs KAFKA_BROKERS)', () => {
  const { serve, open, keep } = streaming('stream-subscribe');

  it('streams what comes to every client, with ids that say where they are', async () => {
    const topic = await topicOf(2);
    await publish(brokers, topic, [{ value: 'before', partition: 0 }]);
    const gw = await serve({ orders: { brokers, topic } });
    const [one, other] = [await open(gw, 'orders'), await open(gw, 'orders')];
    const { headers } = one.response;
    expect([one.status, headers['content-type'], headers['cache-control']]).toEqual([
      200,
      'text/event-stream',
      'no-store',
    ]);
    await eventually(() => expect(one.lastId).toBe('0:1,1:0'));
    expect(one.retry).toBeGreaterThanOrEqual(2_000);
    expect(one.retry).toBeLessThanOrEqual(4_000);
    await publish(brokers, topic, [{ value: '{"id":1}', partition: 0 }]);
    await one.until(1);
    await publish(brokers, topic, [{ value: 'two\nlines', partition: 1 }]);
    const expected = [
      { event: 'message', id: '0:2,1:0', data: '{"id":1}' },
      { event: 'message', id: '0:2,1:1', data: 'two\nlines' },
    ];
    expect(await one.until(2)).toEqual(expected);
    expect(await other.until(2)).toEqual(expected);
  });

  it('works as its README shows', async () => {
    const readme = readFileSync(join(import.meta.dirname, '../plugins/stream-subscribe/README.md'), 'utf8');
    const [, example = ''] = /```yaml\n([\s\S]*?)```/.exec(readme) ?? [];
    expect(example).toContain('brokers: localhost:9092');
    const document = load(example.replace('brokers: localhost:9092', `brokers: ${brokers}`));
    const gw = keep(await startGateway(await compileSpec(document as object, ['stream-subscribe'])));
    const stream = await open(gw, 'customers/7/orders');
    expect(stream.status).toBe(200);
    await eventually(() => expect(stream.lastId).not.toBe(''));
    await publish(brokers, 'orders', [
      { key: '8', value: '{"id":2}' },
      { key: '7', value: '{"id":1}' },
    ]);
    expect((await stream.until(1)).map(({ data }) => data)).toEqual(['{"id":1}']);
  });

  it('begins with the oldest message where the config says so', async () => {
    const topic = await topicOf(3);
    const values = numbers(0, 3_000);
    await publish(
      brokers,
      topic,
      values.map((value) => ({ value: String(value) })),
    );
    const gw = await serve({ orders: { brokers, topic, from: 'earliest' } });
    const stream = await open(gw, 'orders');
    expect(inOrder(valuesOf(await stream.until(3_000)))).toEqual(values);
    await publish(brokers, topic, [{ value: '3000' }]);
    expect(valuesOf(await stream.until(3_001)).at(-1)).toBe(3_000);
  });

  it('resumes behind the Last-Event-ID, losing nothing and repeating nothing, while more comes', async () => {
    const topic = await topicOf(3);
    const gw = await serve({ orders: { brokers, topic } });
    const total = 6_000;
    let stream = await open(gw, 'orders');
    await eventually(() => expect(stream.lastId).not.toBe(''));
    const publishing = (async () => {
      for (let from = 0; from < total; from += 40) {
        await publish(
          brokers,
          topic,
          numbers(from, from + 40).map((value) => ({ value: String(value) })),
        );
      }
    })();
    const seen: StreamEvent[] = [];
    for (let round = 1; round <= 8; round++) {
      await eventually(() => seen.length + stream.events.length >= (round * total) / 10);
      stream.close();
      seen.push(...stream.events);
      stream = await open(gw, 'orders', { headers: { 'last-event-id': seen.at(-1)?.id ?? '' } });
      expect(stream.status).toBe(200);
    }
    await publishing;
    await eventually(() => seen.length + stream.events.length >= total);
    const values = valuesOf([...seen, ...stream.events]);
    expect(inOrder(values)).toEqual(numbers(0, total));
  });

  it('has no event twice where the reader of all is behind the client', async () => {
    const topic = await topicOf();
    const gw = await serve({ orders: { brokers, topic } });
    await publish(brokers, topic, [{ value: '0' }, { value: '1' }, { value: '2' }]);
    const first = await open(gw, 'orders', { headers: { 'last-event-id': '0:3' } });
    const second = await open(gw, 'orders', { headers: { 'last-event-id': '0:1' } });
    await publish(brokers, topic, [{ value: '3' }]);
    expect(valuesOf(await first.until(1))).toEqual([3]);
    expect(valuesOf(await second.until(3))).toEqual([1, 2, 3]);
  });

  it.each(['x', '0', '0:', '0:1,', '0:1,0:2', '0:-1', '0:1.5', ' 0:1,1', '0:99999999999999999', '12345:1', '0:1;1:2'])(
    'answers 400 to the Last-Event-ID "%s"',
    async (id) => {
      const gw = await serve({ orders: { brokers, topic: await topicOf() } });
      const stream = await open(gw, 'orders', { headers: { 'last-event-id': id } });
      expect([stream.status, stream.response.headers['content-type']]).toEqual([400, 'application/problem+json']);
    },
  );

  it('says which messages are not there any more, or never were, and goes on with the oldest that are', async () => {
    const topic = await topicOf();
    await publish(
      brokers,
      topic,
      numbers(0, 10).map((value) => ({ value: String(value) })),
    );
    await deleteBefore(brokers, topic, 0, 7);
    const gw = await serve({ orders: { brokers, topic } });
    const gap = (from: number) => ({ event: 'gap', id: '0:7', data: `{"partition":0,"from":${from},"to":7}` });
    for (const from of [2, 400]) {
      const stream = await open(gw, 'orders', { headers: { 'last-event-id': `0:${from}` } });
      const [first, ...others] = await stream.until(4);
      expect(first).toEqual(gap(from));
      expect(valuesOf(others)).toEqual([7, 8, 9]);
      expect(others.at(-1)?.id).toBe('0:10');
    }
  });

  it('streams the messages of a key alone, and moves the others on', async () => {
    const topic = await topicOf();
    const gw = await serve({
      'customers/{id}': { brokers, topic, key: '$request.path.id', heartbeat: 1 },
      own: { brokers, topic, key: '$request.header.x-customer' },
    });
    const stream = await open(gw, 'customers/a%20b');
    const own = await open(gw, 'own', { headers: { 'x-customer': 'c7' } });
    await eventually(() => expect([stream.lastId, own.lastId]).toEqual(['0:0', '0:0']));
    const messages = ['a b', 'c7', 'a', null, 'a b'].map((key, i) => ({ key, value: String(i) }));
    await publish(brokers, topic, [...messages, { key: 'z', value: '5' }]);
    expect(valuesOf(await stream.until(2))).toEqual([0, 4]);
    expect(valuesOf(await own.until(1))).toEqual([1]);
    // A heartbeat has the place of the last that was read, for whomever it was.
    await eventually(() => expect(stream.lastId).toBe('0:6'));
    const resumed = await open(gw, 'customers/a%20b', { headers: { 'last-event-id': '0:1' } });
    expect(valuesOf(await resumed.until(1))).toEqual([4]);
    expect((await open(gw, 'own')).status).toBe(400);
  });

  it('drops messages that are not as described where it is to, but no deleted keys', async () => {
    const topic = await topicOf();
    const values = ['{"id":1}', '{"id":"x"}', null, Buffer.from([0xff]), '{"id":2}', '{}'];
    await publish(
      brokers,
      topic,
      values.map((value) => ({ value, key: 'k' })),
    );
    const payload = { type: 'object', required: ['id'], properties: { id: { type: 'integer' } } };
    const config = { brokers, topic, from: 'earliest', validate: 'drop', heartbeat: 1 };
    const gw = await serve({ orders: config }, { payload });
    const stream = await open(gw, 'orders');
    expect(await stream.until(3)).toEqual([
      { event: 'message', id: '0:1', data: '{"id":1}' },
      { event: 'tombstone', id: '0:3', data: '' },
      { event: 'message', id: '0:5', data: '{"id":2}' },
    ]);
    await eventually(() => expect(stream.lastId).toBe('0:6'));
    const dropped = { plugin: 'stream-subscribe' };
    expect((await scrape(gw.admin)).value('gw_kafka_messages_dropped_total', dropped)).toBe(3);
  });

  it('sends binary messages in base64, deleted keys as such, and metadata where it is asked for', async () => {
    const topic = await topicOf();
    const gw = await serve({ plain: { brokers, topic }, full: { brokers, topic, include_metadata: true } });
    const [plain, full] = [await open(gw, 'plain'), await open(gw, 'full')];
    await eventually(() => expect([plain.lastId, full.lastId]).toEqual(['0:0', '0:0']));
    await publish(brokers, topic, [
      { value: Buffer.from([0xff, 0x00]), key: 'k', headers: { a: 'b' }, timestamp: '1700000000000' },
      { value: null, key: 'k' },
      { value: '{"a":\n1}' },
      { value: 'a "text"' },
      { value: '' },
    ]);
    expect((await plain.until(5)).map(({ event, data }) => [event, data])).toEqual([
      ['binary', '/wA='],
      ['tombstone', ''],
      ['message', '{"a":\n1}'],
      ['message', 'a "text"'],
      ['message', ''],
    ]);
    const whole = (await full.until(5)).map(({ data }) => JSON.parse(data));
    expect(whole[0]).toEqual({
      partition: 0,
      offset: 0,
      timestamp: 1_700_000_000_000,
      key: 'k',
      headers: { a: 'b' },
      encoding: 'base64',
      payload: '/wA=',
    });
    expect(whole.slice(1).map(({ key, encoding, payload }) => [key, encoding, payload])).toEqual([
      ['k', 'none', null],
      [null, 'json', { a: 1 }],
      [null, 'text', 'a "text"'],
      [null, 'text', ''],
    ]);
  });

  it('passes over batches that cannot be unpacked, and messages that are too large', async () => {
    const { CompressionCodecs: codecs, CompressionTypes: types } = kafkajs;
    const before = codecs[types.GZIP];
    onTestFinished(() => void Object.assign(codecs, { [types.GZIP]: before }));
    codecs[types.GZIP] = () => ({
      compress: async ({ buffer }: { readonly buffer: Buffer }) => gzipSync(buffer),
      decompress: async (bytes: Buffer) => bytes,
    });
    const topic = await topicOf();
    const gw = await serve({ orders: { brokers, topic } });
    const stream = await open(gw, 'orders');
    await eventually(() => expect(stream.lastId).toBe('0:0'));
    const producer = client(brokers).producer();
    await producer.connect();
    const [bomb, large] = [Buffer.alloc(65 << 20), Buffer.alloc(9 << 20)];
    const batches = [['0'], [bomb, 'lost with it'], ['3', large, '5']];
    for (const batch of batches) {
      await producer.send({ topic, compression: types.GZIP, messages: batch.map((value) => ({ value })) });
    }
    await producer.disconnect();
    const gap = (from: number, to: number) => ({
      event: 'gap',
      id: `0:${to}`,
      data: JSON.stringify({ partition: 0, from, to }),
    });
    const message = (value: number) => ({ event: 'message', id: `0:${value + 1}`, data: String(value) });
    const all = [message(0), gap(1, 3), message(3), gap(4, 5), message(5)];
    expect(await stream.until(5)).toEqual(all);
    const resumed = await open(gw, 'orders', { headers: { 'last-event-id': '0:0' } });
    expect(await resumed.until(5)).toEqual(all);
  });

  it('reads what producers have compressed, and leaves out what they have taken back', async () => {
    const { CompressionCodecs: codecs, CompressionTypes: types } = kafkajs;
    const codec = (compress: (bytes: Buffer) => Buffer) => () => ({
      compress: async ({ buffer }: { readonly buffer: Buffer }) => compress(buffer),
      decompress: async (bytes: Buffer) => bytes,
    });
    const before = { ...codecs };
    onTestFinished(() => void Object.assign(codecs, before));
    codecs[types.GZIP] = codec(gzipSync);
    codecs[types.Snappy] = codec(snappy.compress);
    codecs[types.LZ4] = codec(independentBlocks);
    codecs[types.ZSTD] = codec(zstdCompressSync);
    const topic = await topicOf();
    const gw = await serve({ orders: { brokers, topic } });
    const stream = await open(gw, 'orders');
    await eventually(() => expect(stream.lastId).toBe('0:0'));
    const producer = client(brokers).producer();
    await producer.connect();
    for (const [i, compression] of [types.GZIP, types.Snappy, types.LZ4, types.ZSTD].entries())
      await producer.send({ topic, compression, messages: [{ value: String(i) }] });
    await producer.disconnect();
    await publishInTransaction(brokers, topic, ['no', 'nor this'], 'abort');
    await publishInTransaction(brokers, topic, ['4', '5'], 'commit');
    expect(valuesOf(await stream.until(6))).toEqual([0, 1, 2, 3, 4, 5]);
    const resumed = await open(gw, 'orders', { headers: { 'last-event-id': '0:3' } });
    expect(valuesOf(await resumed.until(3))).toEqual([3, 4, 5]);
    // Where both have met, the end of a transaction is behind them, too.
    await publish(brokers, topic, [{ value: '6' }]);
    expect(valuesOf(await resumed.until(4))).toEqual([3, 4, 5, 6]);
    expect(valuesOf(await stream.until(7)).at(-1)).toBe(6);
    expect(resumed.events.at(-1)?.id).toBe(stream.events.at(-1)?.id);
  });

  it('asks the middlewares of the operation who may stream', async () => {
    const topic = await topicOf();
    const keys = [{ key: 'secret-key', id: 'acme' }];
    const gw = await serve(
      { orders: { brokers, topic } },
      {
        middlewares: [{ name: 'apikey-auth', config: { keys } }],
        security: { key: { type: 'httpApiKey', in: 'header', name: 'x-api-key' } },
      },
    );
    expect((await open(gw, 'orders')).status).toBe(401);
    expect((await open(gw, 'orders', { headers: { 'x-api-key': 'secret-key' } })).status).toBe(200);
  });

  it('answers HEAD with the head, and another method with 405', async () => {
    const gw = await serve({ orders: { brokers, topic: await topicOf() } });
    const head = await open(gw, 'orders', { method: 'HEAD' });
    await eventually(() => expect(head.end).toBe('whole'));
    expect([head.status, head.response.headers['content-type']]).toEqual([200, 'text/event-stream']);
    expect((await open(gw, 'orders', { method: 'POST' })).status).toBe(405);
  });
});
