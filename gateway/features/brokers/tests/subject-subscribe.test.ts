/** subject-subscribe through a real `gw serve`, from real servers: as messages come, and from a stream. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type JetStreamManager, jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/nats-core';
import { headers as natsHeaders } from '@nats-io/nats-core';
import { load } from 'js-yaml';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../../../test/eventually.ts';
import { Gate } from '../../../../test/serve/gate.ts';
import { compileSpec, type Gateway, startGateway } from '../../../../test/serve/gateway.ts';
import { connect as connectNats } from '../../../../test/serve/nats-client.ts';
import { Scrape } from '../../../../test/serve/scrape.ts';
import type { EventClient, StreamEvent } from './event-source.ts';
import { streaming } from './streaming.ts';

const { NATS_URL: url = '' } = process.env;

const unique = () => `t${crypto.randomUUID().replaceAll('-', '')}`;
const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);
const valuesOf = (events: readonly StreamEvent[]) => events.map(({ data }) => Number(data));

describe.skipIf(url === '')('subject-subscribe (needs NATS_URL)', () => {
  const { serve, open, keep } = streaming('subject-subscribe');
  let nats: NatsConnection;
  let streams: JetStreamManager;
  const made: string[] = [];
  beforeAll(async () => {
    nats = await connectNats(url);
    streams = await jetstreamManager(nats);
  });
  afterEach(async () => {
    for (const name of made.splice(0)) await streams.streams.delete(name);
  });
  afterAll(() => nats?.close());

  async function streamOf(subject: string): Promise<string> {
    const name = unique();
    await streams.streams.add({ name, subjects: [subject], storage: 'memory' });
    made.push(name);
    return name;
  }

  async function put(subject: string, values: readonly (string | number)[]): Promise<void> {
    const js = jetstream(nats);
    await Promise.all(values.map((value) => js.publish(subject, String(value))));
  }

  /** The head comes when the subject is read; messages that have no place are for those who are there. */
  async function opened(gw: Gateway, path: string, headers = {}): Promise<EventClient> {
    const stream = await open(gw, path, { headers });
    expect(stream.status).toBe(200);
    await eventually(() => expect(stream.retry).toBeGreaterThan(0));
    return stream;
  }

  it('streams what comes to the server, without ids where no stream has it', async () => {
    const subject = unique();
    const gw = await serve({
      plain: { url, subject },
      full: { url, subject: `${subject}.>`, include_metadata: true },
    });
    const [plain, full] = [await opened(gw, 'plain'), await opened(gw, 'full')];
    const headers = natsHeaders();
    headers.append('a', 'b');
    nats.publish(subject, 'hello');
    nats.publish(subject, Uint8Array.from([0xff]));
    nats.publish(`${subject}.x.y`, '{"id":1}', { headers });
    await nats.flush();
    expect(await plain.until(2)).toEqual([
      { event: 'message', id: '', data: 'hello' },
      { event: 'binary', id: '', data: '/w==' },
    ]);
    expect((await full.until(1)).map(({ data }) => JSON.parse(data))).toEqual([
      { subject: `${subject}.x.y`, headers: { a: 'b' }, encoding: 'json', payload: { id: 1 } },
    ]);
    // What it has missed is lost, and it is told so.
    const resumed = await opened(gw, 'plain', { 'last-event-id': '5' });
    expect(await resumed.until(1)).toEqual([{ event: 'gap', id: '', data: '{}' }]);
  });

  it('streams from the stream that has all messages of the subject, and resumes there', async () => {
    const subject = unique();
    await streamOf(`${subject}.*`);
    await put(`${subject}.a`, ['before']);
    const gw = await serve({
      orders: { url, subject: `${subject}.a` },
      full: { url, subject: `${subject}.a`, include_metadata: true, from: 'earliest' },
      // The stream does not have all of it.
      more: { url, subject: `${subject}.>` },
    });
    const [stream, full, more] = [await opened(gw, 'orders'), await opened(gw, 'full'), await opened(gw, 'more')];
    expect([stream.lastId, more.lastId]).toEqual(['1', '']);
    await put(`${subject}.b`, ['of another subject']);
    await put(`${subject}.a`, [7]);
    expect(await stream.until(1)).toEqual([{ event: 'message', id: '3', data: '7' }]);
    const whole = (await full.until(2)).map(({ data }) => JSON.parse(data));
    expect(whole).toMatchObject([
      { sequence: 1, payload: 'before' },
      { sequence: 3, payload: 7 },
    ]);
    expect((await more.until(2)).map(({ id }) => id)).toEqual(['', '']);
    const resumed = await opened(gw, 'orders', { 'last-event-id': '0' });
    expect((await resumed.until(2)).map(({ id, data }) => [id, data])).toEqual([
      ['1', 'before'],
      ['3', '7'],
    ]);
  });

  it('loses nothing and repeats nothing for clients that come again, while more comes', async () => {
    const subject = unique();
    await streamOf(subject);
    const gw = await serve({ orders: { url, subject, stream: 'required' } });
    const total = 4_000;
    let stream = await opened(gw, 'orders');
    const publishing = (async () => {
      for (let from = 0; from < total; from += 50) await put(subject, numbers(from, from + 50));
    })();
    const seen: StreamEvent[] = [];
    for (let round = 1; round <= 6; round++) {
      await eventually(() => seen.length + stream.events.length >= (round * total) / 8);
      stream.close();
      seen.push(...stream.events);
      stream = await open(gw, 'orders', { headers: { 'last-event-id': seen.at(-1)?.id ?? '' } });
    }
    await publishing;
    await eventually(() => seen.length + stream.events.length >= total);
    const events = [...seen, ...stream.events];
    expect(events.map(({ id }) => Number(id))).toEqual(numbers(1, total + 1));
    expect(valuesOf(events).toSorted((one, other) => one - other)).toEqual(numbers(0, total));
  });

  it('says which messages the stream has no more', async () => {
    const subject = unique();
    const name = await streamOf(subject);
    await put(subject, numbers(0, 10));
    await streams.streams.purge(name, { seq: 8 });
    const gw = await serve({ orders: { url, subject } });
    for (const last of [2, 500]) {
      const stream = await opened(gw, 'orders', { 'last-event-id': String(last) });
      const [first, ...others] = await stream.until(4);
      expect(first).toEqual({ event: 'gap', id: '7', data: `{"from":${last + 1},"to":8}` });
      expect(others.map(({ id }) => id)).toEqual(['8', '9', '10']);
    }
  });

  it.each(['x', '-1', '1.5', '0:1', '99999999999999999'])('answers 400 to the Last-Event-ID "%s"', async (id) => {
    const subject = unique();
    await streamOf(subject);
    const gw = await serve({ orders: { url, subject } });
    expect((await open(gw, 'orders', { headers: { 'last-event-id': id } })).status).toBe(400);
  });

  it('fills parameters of the path in as tokens, and takes no wildcards from clients', async () => {
    const subject = unique();
    const gw = await serve({ 'customers/{id}/{kind}': { url, subject: `${subject}.{id}.*.{kind}` } });
    const stream = await opened(gw, 'customers/7/new');
    for (const path of ['7.x.new', '8.x.new', '7.x.old', '7.y.new']) nats.publish(`${subject}.${path}`, path);
    await nats.flush();
    expect((await stream.until(2)).map(({ data }) => data)).toEqual(['7.x.new', '7.y.new']);
    for (const id of ['*', '%3E', '7.x', '%2A', 'a%20b', 'a%0Ab', '%C2%A0', 'é', 'x'.repeat(129)]) {
      expect([id, (await open(gw, `customers/${encodeURI(decodeURI(id))}/new`)).status]).toEqual([id, 400]);
    }
  });

  it('works as its README shows', async () => {
    const readme = readFileSync(join(import.meta.dirname, '../plugins/subject-subscribe/README.md'), 'utf8');
    const [, example = ''] = /```yaml\n([\s\S]*?)```/.exec(readme) ?? [];
    expect(example).toContain('url: nats://localhost:4222');
    const document = load(example.replace('nats://localhost:4222', url));
    const gw = keep(await startGateway(await compileSpec(document as object, ['subject-subscribe'])));
    const stream = await opened(gw, 'regions/eu/orders');
    nats.publish('orders.us.placed', '{"id":2}');
    nats.publish('orders.eu.placed', '{"id":1}');
    await nats.flush();
    expect((await stream.until(1)).map(({ data }) => data)).toEqual(['{"id":1}']);
  });

  it('shares one connection for all subjects and clients, and leaves none when it stops', async () => {
    const gate = new Gate(url);
    await gate.open();
    const subject = unique();
    const gw = await serve({ 'orders/{id}': { url: gate.url, subject: `${subject}.{id}` } });
    const all = await Promise.all(numbers(0, 20).map((i) => opened(gw, `orders/${i % 4}`)));
    expect(gate.accepted).toBe(1);
    for (const i of numbers(0, 4)) nats.publish(`${subject}.${i}`, String(i));
    await nats.flush();
    for (const [i, stream] of all.entries()) expect(valuesOf(await stream.until(1))).toEqual([i % 4]);
    expect(await gw.stop()).toBe(0);
    expect(new Set(all.map(({ end }) => end))).toEqual(new Set(['whole']));
    const scrape = gw.log.filter(({ stream_ended_by: by }) => by === 'stopping');
    expect(scrape).toHaveLength(20);
    await gate.close();
  });

  it('drops messages that are not as described where it is to, once for all clients, and resumes behind them', async () => {
    const subject = unique();
    await streamOf(subject);
    const config = { url, subject, stream: 'required', heartbeat: 1 };
    const gw = await serve(
      {
        checked: { ...config, validate: 'drop' },
        full: { ...config, validate: 'drop', include_metadata: true },
        any: config,
      },
      { payload: { type: 'integer', maximum: 100 } },
    );
    const names = ['checked', 'checked', 'full', 'any'];
    const [first, second, full, any] = (await Promise.all(names.map((name) => opened(gw, name)))) as [
      EventClient,
      EventClient,
      EventClient,
      EventClient,
    ];
    for (const value of ['1', 'nonsense', '2', '101', '', '3', '"4"']) await put(subject, [value]);
    const passed = [
      { event: 'message', id: '1', data: '1' },
      { event: 'message', id: '3', data: '2' },
      { event: 'message', id: '6', data: '3' },
    ];
    for (const stream of [first, second]) expect(await stream.until(3)).toEqual(passed);
    expect((await full.until(3)).map(({ data }) => JSON.parse(data).payload)).toEqual([1, 2, 3]);
    expect((await any.until(7)).map(({ data }) => data)).toEqual(['1', 'nonsense', '2', '101', '', '3', '"4"']);
    // The last one is behind all that it got.
    await eventually(() => expect([first.lastId, full.lastId]).toEqual(['7', '7']));
    expect([first, second].map(({ events }) => events.length)).toEqual([3, 3]);
    const dropped = async () =>
      new Scrape(await (await fetch(`${gw.admin}/metrics`)).text()).value('gw_nats_messages_dropped_total', {
        plugin: 'subject-subscribe',
      });
    // Of two operations, whatever number of clients each has.
    expect(await dropped()).toBe(8);
    const resumed = await opened(gw, 'checked', { 'last-event-id': '1' });
    expect(await resumed.until(2)).toEqual(passed.slice(1));
    await eventually(() => expect(resumed.lastId).toBe('7'));
    await put(subject, [5]);
    expect((await resumed.until(3)).at(-1)).toEqual({ event: 'message', id: '8', data: '5' });
    expect((await first.until(4)).at(-1)).toEqual({ event: 'message', id: '8', data: '5' });
  });

  it('is 502 where a stream is required and there is none, and where egress is not allowed', async () => {
    const gate = new Gate(url);
    await gate.open();
    const config = { url, subject: unique(), stream: 'required' };
    const gw = await serve({ orders: config });
    expect((await open(gw, 'orders')).status).toBe(502);
    const closed = await serve({ orders: { ...config, url: gate.url, stream: 'auto' } }, { egress: [] });
    expect((await open(closed, 'orders')).status).toBe(502);
    expect(gate.accepted).toBe(0);
    await gate.close();
  });

  it('is 502 where no server is there, then 503, and there when it is; clients stay when it goes', async () => {
    const gate = new Gate(url);
    await gate.open();
    await gate.close();
    const subject = unique();
    await streamOf(subject);
    const gw = await serve({ orders: { url: gate.url, subject, timeout: 2 } });
    const five = await Promise.all(Array.from({ length: 5 }, () => open(gw, 'orders')));
    expect(five.map(({ status }) => status)).toEqual([502, 502, 502, 502, 502]);
    await eventually(async () => expect((await open(gw, 'orders')).status).toBe(503));
    await gate.open();
    const stream = await eventually(() => opened(gw, 'orders'));
    await put(subject, [0]);
    await stream.until(1);
    await gate.close();
    await put(subject, [1, 2]);
    await gate.open();
    await put(subject, [3]);
    expect(valuesOf(await stream.until(4))).toEqual([0, 1, 2, 3]);
    expect(stream.end).toBe(null);
    const scrape = async () => new Scrape(await (await fetch(`${gw.admin}/metrics`)).text());
    expect((await scrape()).value('gw_nats_streams')).toBe(1);
    stream.close();
    await eventually(async () => {
      const scraped = await scrape();
      expect(scraped.value('gw_nats_streams')).toBe(0);
      expect(scraped.value('gw_nats_streams_total', { end: 'client' })).toBe(1);
    });
    await gate.close();
  });
});
