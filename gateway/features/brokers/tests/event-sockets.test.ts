/** Streams of events over WebSockets: the same operations, asked to upgrade. */
import { connect } from 'node:http2';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { eventually } from '../../../../test/eventually.ts';
import { type Gateway, jsonOf } from '../../../../test/serve/gateway.ts';
import { raw } from '../../../../test/serve/http.ts';
import { createTopic, publish } from '../../../../test/serve/kafka-client.ts';
import { Scrape } from '../../../../test/serve/scrape.ts';
import { streaming } from './streaming.ts';

const { KAFKA_BROKERS: brokers = '' } = process.env;

interface Told {
  readonly event: string;
  readonly id?: string;
  readonly data?: unknown;
}

class SocketClient {
  readonly socket: WebSocket;
  readonly told: Told[] = [];
  pings = 0;
  readonly closed: Promise<readonly [code: number, reason: string]>;

  constructor(gw: Gateway, path: string, headers: Readonly<Record<string, string>> = {}) {
    this.socket = new WebSocket(`${gw.url.replace('http', 'ws')}/${path}`, { headers });
    this.socket.on('message', (data, isBinary) => {
      expect(isBinary).toBe(false);
      this.told.push(JSON.parse(String(data)));
    });
    this.socket.on('ping', () => this.pings++);
    this.socket.on('error', () => {});
    this.closed = new Promise((resolve) =>
      this.socket.on('close', (code, reason) => resolve([code, String(reason)] as const)),
    );
  }

  async until(count: number): Promise<readonly Told[]> {
    await eventually(() => this.told.length >= count);
    return this.told;
  }
}

const WS_HEAD = [
  'Host: a',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
].join('\r\n');

describe.skipIf(brokers === '')('streams of events over WebSockets (needs KAFKA_BROKERS)', () => {
  const { serve, open } = streaming('stream-subscribe');
  const clients: SocketClient[] = [];
  afterEach(() => {
    for (const { socket } of clients.splice(0)) socket.terminate();
  });

  async function topicOf(): Promise<string> {
    const topic = `t${crypto.randomUUID()}`;
    await createTopic(brokers, topic);
    return topic;
  }

  function connectTo(gw: Gateway, path: string, headers?: Readonly<Record<string, string>>): SocketClient {
    const client = new SocketClient(gw, path, headers);
    clients.push(client);
    return client;
  }

  it('tell the same as server-sent events, as JSON in text frames, whatever their length', async () => {
    const topic = await topicOf();
    const gw = await serve({ orders: { brokers, topic }, full: { brokers, topic, include_metadata: true } });
    const [plain, full, sse] = [connectTo(gw, 'orders'), connectTo(gw, 'full'), await open(gw, 'orders')];
    expect(await plain.until(1)).toEqual([{ event: 'open', id: '0:0' }]);
    await full.until(1);
    const long = ['x'.repeat(100), 'y'.repeat(1_000), 'z'.repeat(100_000)];
    await publish(brokers, topic, [
      { value: '{"id":1}' },
      { value: Buffer.from([0xff]) },
      { value: null, key: 'k' },
      ...long.map((value) => ({ value })),
    ]);
    expect((await plain.until(7)).slice(1)).toEqual(await sse.until(6));
    expect((await full.until(2))[1]).toMatchObject({
      id: '0:1',
      data: { offset: 0, encoding: 'json', payload: { id: 1 } },
    });
  });

  it('resume by the query, as browsers can, and by the header', async () => {
    const topic = await topicOf();
    await publish(brokers, topic, [{ value: '0' }, { value: '1' }, { value: '2' }]);
    const gw = await serve({ orders: { brokers, topic } });
    const told = [
      { event: 'open' },
      { event: 'message', id: '0:2', data: '1' },
      { event: 'message', id: '0:3', data: '2' },
    ];
    expect(await connectTo(gw, 'orders?last-event-id=0:1').until(3)).toEqual(told);
    expect(await connectTo(gw, 'orders', { 'last-event-id': '0:1' }).until(3)).toEqual(told);
    const response = await fetch(`${gw.url}/orders?last-event-id=nonsense`);
    expect([response.status, await jsonOf(response)]).toMatchObject([400, { type: 'urn:gw:error:validation-failed' }]);
  });

  it('are pinged, answer pings, and ignore what clients say, up to 64 KiB', async () => {
    const gw = await serve({ orders: { brokers, topic: await topicOf(), heartbeat: 1 } });
    const client = connectTo(gw, 'orders');
    await client.until(1);
    const ponged = new Promise((resolve) => client.socket.on('pong', (data) => resolve(String(data))));
    client.socket.send('hello');
    client.socket.ping('there?');
    expect(await ponged).toBe('there?');
    await eventually(() => client.pings > 0);
    expect(await client.until(2)).toEqual([
      { event: 'open', id: '0:0' },
      { event: 'position', id: '0:0' },
    ]);
    client.socket.send('x'.repeat(100_000));
    expect((await client.closed)[0]).toBe(1009);
  });

  it('close with the client, with 1002 where it breaks the protocol, and with 1001 where it is to come again', async () => {
    const topic = await topicOf();
    const gw = await serve({ orders: { brokers, topic }, short: { brokers, topic, max_duration: 0.2 } });
    const client = connectTo(gw, 'orders');
    await client.until(1);
    client.socket.close(4321, 'bye');
    expect(await client.closed).toEqual([4321, '']);
    expect(await connectTo(gw, 'short').closed).toEqual([1001, 'open it again']);
    const { socket, all } = raw(Number(new URL(gw.url).port));
    socket.write(`GET /orders HTTP/1.1\r\n${WS_HEAD}\r\n\r\n`);
    await new Promise((resolve) => socket.once('data', resolve));
    // A frame without mask.
    socket.write(Buffer.from([0x81, 0x01, 0x61]));
    expect(Buffer.from(await all, 'latin1').includes(Buffer.from([0x03, 0xea]))).toBe(true);
    await eventually(async () => {
      const scraped = new Scrape(await (await fetch(`${gw.admin}/metrics`)).text());
      expect(scraped.value('gw_websocket_connections')).toBe(0);
    });
  });

  it('close with 1001 when the gateway stops, which does not wait for clients that say nothing', async () => {
    const gw = await serve({ orders: { brokers, topic: await topicOf() } });
    const client = connectTo(gw, 'orders');
    await client.until(1);
    const { socket, all } = raw(Number(new URL(gw.url).port));
    socket.write(`GET /orders HTTP/1.1\r\n${WS_HEAD}\r\n\r\n`);
    await new Promise((resolve) => socket.once('data', resolve));
    expect(await gw.stop()).toBe(0);
    expect(await client.closed).toEqual([1001, 'the gateway is stopping']);
    await all;
    const lines = gw.log.filter(({ msg, status }) => msg === 'request' && status === 101);
    expect(lines.map(({ stream_ended_by: by }) => by)).toEqual(['stopping', 'stopping']);
  });

  it('are cut off where their clients do not read', async () => {
    const topic = await topicOf();
    const gw = await serve(
      { orders: { brokers, topic, max_lag: { messages: 50 } } },
      { args: ['--send-timeout', '600'] },
    );
    const client = connectTo(gw, 'orders');
    await client.until(1);
    client.socket.pause();
    const value = 'x'.repeat(100_000);
    await eventually(async () => {
      await publish(
        brokers,
        topic,
        Array.from({ length: 8 }, () => ({ value })),
      );
      expect(gw.log.some(({ stream_ended_by: by }) => by === 'lag')).toBe(true);
    });
    client.socket.resume();
    expect((await client.closed)[0]).toBe(1006);
  });

  it('need a valid handshake, and go over HTTP/2', async () => {
    const topic = await topicOf();
    const gw = await serve({ orders: { brokers, topic } });
    const { socket, all } = raw(Number(new URL(gw.url).port));
    socket.write(`GET /orders HTTP/1.1\r\n${WS_HEAD.replace('13', '8')}\r\n\r\n`);
    expect(await all).toMatch(/^HTTP\/1\.1 426 /);
    const session = connect(gw.url);
    await new Promise((resolve) => session.once('remoteSettings', resolve));
    const stream = session.request({
      ':method': 'CONNECT',
      ':protocol': 'websocket',
      ':path': '/orders',
      ':scheme': 'http',
      ':authority': 'a',
      'sec-websocket-version': '13',
    });
    let received = '';
    stream.setEncoding('latin1').on('data', (text: string) => {
      received += text;
    });
    await eventually(() => received.includes('{"event":"open","id":"0:0"}'));
    await publish(brokers, topic, [{ value: 'two' }]);
    await eventually(() => received.includes('"data":"two"'));
    session.destroy();
    await eventually(() => gw.log.some(({ stream_ended_by: by }) => by === 'client'));
  });
});
