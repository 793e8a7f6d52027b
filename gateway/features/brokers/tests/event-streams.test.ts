/** Streams of events as the gateway serves them: clients that do not read, limits, reload, shutdown, brokers that fail. */
import { once } from 'node:events';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { connect as connectHttp2 } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../../../test/eventually.ts';
import { MisbehavingPeer } from '../../../../test/misbehaving-peer.ts';
import { Gate } from '../../../../test/serve/gate.ts';
import { type Gateway, jsonOf, startGateway } from '../../../../test/serve/gateway.ts';
import { h2session, raw } from '../../../../test/serve/http.ts';
import { createTopic, publish } from '../../../../test/serve/kafka-client.ts';
import { receivingArtifact } from '../../../../test/serve/receiving.ts';
import { Scrape } from '../../../../test/serve/scrape.ts';
import { EventClient } from './event-source.ts';
import { streaming } from './streaming.ts';

const { KAFKA_BROKERS: brokers = '' } = process.env;

async function topicOf(): Promise<string> {
  const topic = `t${crypto.randomUUID()}`;
  await createTopic(brokers, topic);
  return topic;
}

const port = (gw: Gateway) => Number(new URL(gw.url).port);

/** Streams that are open, by the metrics. */
async function counted(gw: Gateway): Promise<number> {
  return new Scrape(await (await fetch(`${gw.admin}/metrics`)).text()).value('gw_kafka_streams');
}

async function ended(gw: Gateway, end: string): Promise<number> {
  const scraped = new Scrape(await (await fetch(`${gw.admin}/metrics`)).text());
  return scraped.value('gw_kafka_streams_total', { end });
}

describe.skipIf(brokers === '')('streams of events (needs KAFKA_BROKERS)', () => {
  const { serve, open, keep } = streaming('stream-subscribe');

  it('cut off a client that does not read, and delay no other', async () => {
    const topic = await topicOf();
    const gw = await serve(
      { orders: { brokers, topic, max_lag: { messages: 100, bytes: 1 << 20 } } },
      { args: ['--send-timeout', '600'] },
    );
    const reading = await open(gw, 'orders');
    const { socket, all } = raw(port(gw));
    socket.write('GET /orders HTTP/1.1\r\nHost: a\r\n\r\n');
    await new Promise((resolve) => socket.once('data', resolve));
    socket.pause();
    const value = 'x'.repeat(100_000);
    let sent = 0;
    await eventually(async () => {
      await publish(
        brokers,
        topic,
        Array.from({ length: 8 }, () => ({ value })),
      );
      sent += 8;
      await reading.until(sent);
      expect(await ended(gw, 'lag')).toBe(1);
    });
    socket.resume();
    expect(await all).not.toMatch(/\r\n0\r\n\r\n$/);
    const line = await gw.logged(({ msg, stream_ended_by }) => msg === 'request' && stream_ended_by === 'lag');
    expect(line).toMatchObject({ status: 200, stream_messages: expect.any(Number) });
    expect(reading.end).toBe(null);
  });

  it('give a client that resumes what it missed, however many others resume and do not read', async () => {
    const topic = await topicOf();
    const value = 'x'.repeat(100_000);
    for (let i = 0; i < 10; i++)
      await publish(
        brokers,
        topic,
        Array.from({ length: 8 }, () => ({ value })),
      );
    const gw = await serve({ orders: { brokers, topic } }, { args: ['--send-timeout', '600'] });
    const silent = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const { socket, all } = raw(port(gw));
        socket.write('GET /orders HTTP/1.1\r\nHost: a\r\nLast-Event-ID: 0:0\r\n\r\n');
        await new Promise((resolve) => socket.once('data', resolve));
        socket.pause();
        return { socket, all };
      }),
    );
    const reading = await open(gw, 'orders', { headers: { 'last-event-id': '0:0' } });
    expect((await reading.until(80)).every(({ data }) => data === value)).toBe(true);
    // One that reads later has it all, too.
    const [late] = silent;
    let text = '';
    late?.socket.on('data', (part) => {
      text += part;
    });
    late?.socket.resume();
    await eventually(() => text.includes('id: 0:80\n'));
    for (const { socket } of silent) socket.destroy();
    await eventually(async () => expect(await ended(gw, 'client')).toBe(20));
  });

  it.each([
    ['new messages of a key', {}],
    ['what they missed', { 'last-event-id': '0:0' }],
  ])('hold no more for clients that do not read than responses may: %s', async (_, headers) => {
    const topic = await topicOf();
    const values = Array.from({ length: 8 }, (__, i) => String(i).repeat(900_000));
    const publishAll = async () => {
      for (const value of values) await publish(brokers, topic, [{ key: '7', value }]);
    };
    const resumes = 'last-event-id' in headers;
    if (resumes) await publishAll();
    const gw = await serve(
      { 'customers/{id}': { brokers, topic, key: '$request.path.id' } },
      { args: ['--send-timeout', '600', '--max-held-response-bytes', '3000000'] },
    );
    const reading = await open(gw, 'customers/7', { headers });
    const socket = connect({ host: '127.0.0.1', port: port(gw), localAddress: '127.0.0.9' });
    const session = connectHttp2(gw.url, { createConnection: () => socket, settings: { initialWindowSize: 0 } });
    const silent = Array.from({ length: 10 }, () => session.request({ ':path': '/customers/7', ...headers }));
    for (const stream of silent) stream.on('error', () => {});
    await Promise.all(silent.map((stream) => once(stream, 'response')));
    if (!resumes) await publishAll();
    await eventually(() => expect(reading.data).toEqual(values));
    // The transport cuts off as well.
    await eventually(async () => expect((await ended(gw, 'lag')) + (await ended(gw, 'client'))).toBeGreaterThan(0));
    expect(reading.end).toBe(null);
    session.destroy();
  });

  it('hold no place for a client that leaves before its stream begins', async () => {
    const gate = new Gate(`kafka://${brokers}`);
    await gate.open();
    await gate.close();
    const config = { brokers: `127.0.0.1:${gate.port}`, topic: await topicOf(), max_clients: 1, timeout: 60 };
    const gw = await serve({ orders: config });
    const { socket, all } = raw(port(gw));
    socket.write('GET /orders HTTP/1.1\r\nHost: a\r\n\r\n');
    await gw.logged(({ level, msg }) => level === 'error' && msg.includes('unavailable'));
    expect((await open(gw, 'orders')).status).toBe(503);
    socket.destroy();
    await all;
    await gate.open();
    await eventually(async () => expect((await open(gw, 'orders')).status).toBe(200));
    await gate.close();
  });

  it('are as many as the config says, and 503 with Retry-After beyond', async () => {
    const topic = await topicOf();
    const gw = await serve({ orders: { brokers, topic, max_clients: 2 }, others: { brokers, topic } });
    const [first] = [await open(gw, 'orders'), await open(gw, 'orders')];
    const third = await open(gw, 'orders');
    expect([third.status, third.response.headers['retry-after']]).toEqual([503, '1']);
    expect((await open(gw, 'others')).status).toBe(200);
    expect(await counted(gw)).toBe(3);
    first.close();
    await eventually(async () => expect(await counted(gw)).toBe(2));
    await eventually(async () => expect((await open(gw, 'orders')).status).toBe(200));
    expect(await ended(gw, 'client')).toBe(1);
  });

  it('are shared: of the client that has most one ends for another client', async () => {
    const gw = await serve({ orders: { brokers, topic: await topicOf(), max_clients: 2 } });
    const flood = [1, 2].map(() => connect({ host: '127.0.0.1', port: port(gw), localAddress: '127.0.0.9' }));
    for (const socket of flood) {
      socket.write('GET /orders HTTP/1.1\r\nHost: a\r\n\r\n');
      await once(socket, 'data');
    }
    expect((await open(gw, 'orders')).status).toBe(200);
    expect(await ended(gw, 'share')).toBe(1);
    for (const socket of flood) socket.destroy();
  });

  it('say that they are alive, and end when their clients have to be authorized again', async () => {
    const gw = await serve({ orders: { brokers, topic: await topicOf(), heartbeat: 1, max_duration: 2.5 } });
    const stream = await open(gw, 'orders');
    await eventually(() => expect(stream.end).toBe('whole'));
    expect(stream.comments).toBeGreaterThan(0);
    expect(await ended(gw, 'duration')).toBe(1);
  });

  it('share a connection, and leave none when the gateway stops, which ends them as whole', async () => {
    const gate = new Gate(`kafka://${brokers}`);
    await gate.open();
    const topic = await topicOf();
    const gw = await serve({ orders: { brokers: `127.0.0.1:${gate.port}`, topic } });
    const streams = await Promise.all(Array.from({ length: 20 }, () => open(gw, 'orders')));
    expect(gate.accepted).toBe(1);
    await publish(brokers, topic, [{ value: 'to all' }]);
    for (const stream of streams) expect((await stream.until(1)).map(({ data }) => data)).toEqual(['to all']);
    expect(await gw.stop()).toBe(0);
    expect(new Set(streams.map(({ end }) => end))).toEqual(new Set(['whole']));
    await gate.close();
  });

  it('stay open over a new artifact, and count with its own', async () => {
    const topic = await topicOf();
    const dir = mkdtempSync(join(tmpdir(), 'gw-streams-'));
    const file = join(dir, 'api.gwa');
    const replace = async (more: object) => {
      const config = { brokers, topic, max_clients: 1 };
      writeFileSync(`${file}.new`, await receivingArtifact('stream-subscribe', { orders: config, ...more }));
      renameSync(`${file}.new`, file);
    };
    await replace({});
    const gw = keep(await startGateway(null, { args: ['--artifact', file] }));
    const stream = await open(gw, 'orders');
    await replace({ others: { brokers, topic } });
    await gw.logged(() => gw.log.filter(({ msg }) => msg === 'artifact loaded').length === 2);
    await publish(brokers, topic, [{ value: 'still' }]);
    expect((await stream.until(1)).map(({ data }) => data)).toEqual(['still']);
    expect((await open(gw, 'orders')).status).toBe(503);
    expect((await open(gw, 'others')).status).toBe(200);
    rmSync(dir, { recursive: true });
  });

  it('go over HTTP/2 as well, and end with the gateway', async () => {
    const topic = await topicOf();
    const gw = await serve({ orders: { brokers, topic } });
    const session = await h2session(gw.url);
    const stream = session.request({ ':path': '/orders' }).setEncoding('utf8');
    let text = '';
    stream.on('data', (chunk: string) => {
      text += chunk;
    });
    await eventually(() => expect(text).toContain('id: 0:0\n'));
    await publish(brokers, topic, [{ value: 'hello' }]);
    await eventually(() => expect(text).toContain('id: 0:1\ndata: hello\n\n'));
    const closed = new Promise((resolve) => stream.on('close', () => resolve(stream.rstCode)));
    expect(await gw.stop()).toBe(0);
    expect(await closed).toBe(0);
  });

  it('are traced up to their beginning', async () => {
    const gw = await serve({ orders: { brokers, topic: await topicOf() } });
    const response = await fetch(`${gw.admin}/trace`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ target: '/orders' }),
    });
    if (response.status !== 200) throw new Error(await response.text());
    expect(await jsonOf(response)).toMatchObject({ response: { status: 200 } });
    await eventually(async () => expect(await ended(gw, 'client')).toBe(1));
  });

  it('reach no address that egress does not allow, named by a broker or not', async () => {
    const gate = new Gate(`kafka://${brokers}`);
    await gate.open();
    const config = (host: string) => ({ orders: { brokers: `${host}:${gate.port}`, topic: 'a', timeout: 2 } });
    const gw = await serve(config('127.0.0.1'), { egress: [] });
    expect((await open(gw, 'orders')).status).toBe(502);
    expect(gate.accepted).toBe(0);
    // Reached by a name that is allowed, it names an address that is not.
    const named = await serve(config('localhost'), { egress: ['--egress-allow', 'localhost'] });
    expect((await open(named, 'orders')).status).toBe(502);
    expect(gate.accepted).toBeGreaterThan(0);
    await gate.close();
  });

  it('are 502 where no broker is there, then 503, and there when it is', async () => {
    const gate = new Gate(`kafka://${brokers}`);
    await gate.open();
    await gate.close();
    const gw = await serve({ orders: { brokers: `127.0.0.1:${gate.port}`, topic: await topicOf(), timeout: 2 } });
    const five = await Promise.all(Array.from({ length: 5 }, () => open(gw, 'orders')));
    expect(five.map(({ status }) => status)).toEqual([502, 502, 502, 502, 502]);
    await eventually(async () => expect((await open(gw, 'orders')).status).toBe(503));
    await gate.open();
    await eventually(async () => expect((await open(gw, 'orders')).status).toBe(200));
    await gate.close();
  });
});

describe('streams of events from what is no Kafka', () => {
  const { serve } = streaming('stream-subscribe');
  let peer: MisbehavingPeer;
  let speak: (socket: Socket) => void = () => {};
  beforeAll(async () => {
    peer = await MisbehavingPeer.start((socket) => speak(socket));
  });
  afterAll(() => peer?.close());

  it.each<[string, (socket: Socket) => void]>([
    ['nothing', () => {}],
    ['another protocol', (socket) => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n')],
    ['an answer of 2 GiB', (socket) => socket.write(Buffer.from('7fffffff0000000000000000', 'hex'))],
    ['its end', (socket) => socket.end()],
  ])('are refused in time where the broker says %s', async (_, says) => {
    speak = says;
    const gw = await serve({ orders: { brokers: peer.address, topic: 'a', timeout: 0.5 } });
    const stream = await EventClient.open(`${gw.url}/orders`);
    expect([502, 504]).toContain(stream.status);
    expect(await gw.stop()).toBe(0);
    await eventually(() => expect(peer.sockets.size).toBe(0));
  });
});
