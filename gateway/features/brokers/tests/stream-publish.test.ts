/** stream-publish through a real `gw serve`, to a real broker. */
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../../../test/eventually.ts';
import { MisbehavingPeer } from '../../../../test/misbehaving-peer.ts';
import { Gate } from '../../../../test/serve/gate.ts';
import { type Gateway, jsonOf } from '../../../../test/serve/gateway.ts';
import { createTopic, readAll } from '../../../../test/serve/kafka-client.ts';
import { post, type SendingSetup, serveDocument, serveSending } from '../../../../test/serve/sending.ts';

const { KAFKA_BROKERS = '' } = process.env;

const gateways: Gateway[] = [];
afterEach(async () => {
  await Promise.all(gateways.splice(0).map((gw) => gw.stop()));
});

async function serve(configs: Readonly<Record<string, object>>, setup?: SendingSetup): Promise<Gateway> {
  const gw = await serveSending('stream-publish', configs, setup);
  gateways.push(gw);
  return gw;
}

const unique = () => `t${crypto.randomUUID()}`;
const brokers = KAFKA_BROKERS;

describe.skipIf(KAFKA_BROKERS === '')('stream-publish (needs KAFKA_BROKERS)', () => {
  it('publishes the body as it came, with key, content type and the headers that the config names', async () => {
    const topic = unique();
    const gw = await serve(
      {
        'orders/{id}': { brokers, topic, key: '$request.path.id', headers_from_request: ['X-Tenant', 'x-absent'] },
        header: { brokers, topic, key: '$request.header.X-Customer' },
        literal: { brokers, topic, key: 'all' },
      },
      { contentType: 'application/octet-stream' },
    );
    const body = Uint8Array.from({ length: 5_000 }, (_, i) => i % 256);
    const type = { 'content-type': 'application/octet-stream' };
    const first = await post(gw, 'orders/a%20b', body, {
      ...type,
      'x-tenant': 'acme',
      'x-other': 'stays',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    });
    expect([first.status, first.headers.get('content-type'), await first.json()]).toEqual([
      202,
      'application/json',
      { status: 'accepted', topic },
    ]);
    expect((await post(gw, 'header', 'x', { ...type, 'x-customer': 'c7' })).status).toBe(202);
    expect((await post(gw, 'header', 'y', type)).status).toBe(202);
    expect((await post(gw, 'literal', 'z', type)).status).toBe(202);
    const records = await readAll(brokers, topic);
    expect(records.map(({ key }) => key?.toString() ?? null)).toEqual(['a b', 'c7', null, 'all']);
    expect(records[0]?.value?.equals(body)).toBe(true);
    const headers = Object.entries(records[0]?.headers ?? {}).map(([name, value]) => [name, String(value)]);
    expect(Object.fromEntries(headers)).toEqual({
      'content-type': 'application/octet-stream',
      'X-Tenant': 'acme',
      traceparent: expect.stringMatching(/^00-0af7651916cd43dd8448eb211c80319c-/),
    });
  });

  it('says where each message is, of as many as come at once', async () => {
    const topic = unique();
    await createTopic(brokers, topic, 3);
    const gw = await serve({
      place: { brokers, topic, key: '$request.header.x-key', include_metadata: true },
      own: {
        brokers,
        topic,
        include_metadata: true,
        ack_response: { body: { queued: true }, headers: { 'X-Ack': 'y' } },
      },
    });
    const answers = await Promise.all(
      Array.from({ length: 60 }, async (_, i) => {
        const headers: Record<string, string> = i % 3 === 0 ? {} : { 'x-key': `k${i % 7}` };
        const response = await post(gw, 'place', JSON.stringify(i), headers);
        expect(response.status).toBe(202);
        return jsonOf<{ readonly partition: number; readonly offset: number }>(response);
      }),
    );
    const records = await readAll(brokers, topic);
    const places = new Map(records.map(({ partition, offset, value }) => [`${partition}/${offset}`, String(value)]));
    for (const [i, { partition, offset }] of answers.entries())
      expect(places.get(`${partition}/${offset}`)).toBe(String(i));
    expect(records).toHaveLength(60);
    // Those of a key are in one partition.
    expect(new Set(records.filter(({ key }) => String(key) === 'k1').map(({ partition }) => partition)).size).toBe(1);
    const own = await post(gw, 'own', '{}');
    expect([own.status, own.headers.get('x-ack'), await own.json()]).toEqual([202, 'y', { queued: true }]);
  });

  it('works as its README shows', async () => {
    const readme = readFileSync(join(import.meta.dirname, '../plugins/stream-publish/README.md'), 'utf8');
    const [, example = ''] = /```yaml\n([\s\S]*?)```/.exec(readme) ?? [];
    expect(example).toContain('brokers: localhost:9092');
    const gw = await serveDocument(
      example.replace('brokers: localhost:9092', `brokers: ${KAFKA_BROKERS}`),
      'stream-publish',
    );
    gateways.push(gw);
    const response = await post(gw, 'customers/7/orders', '{"id":1}');
    expect([response.status, await response.json()]).toEqual([
      202,
      { status: 'accepted', topic: 'orders', partition: 0, offset: expect.any(Number) },
    ]);
    expect((await post(gw, 'customers/7/orders', '{"id":"one"}')).status).toBe(400);
  });

  it('publishes nothing that does not fit its schema', async () => {
    const topic = unique();
    const payload = { type: 'object', required: ['id'], properties: { id: { type: 'integer' } } };
    const gw = await serve({ orders: { brokers, topic } }, { payload });
    expect((await post(gw, 'orders', '{"id":"one"}')).status).toBe(400);
    expect((await post(gw, 'orders', '{"id":1}')).status).toBe(202);
    expect((await readAll(brokers, topic)).map(({ value }) => String(value))).toEqual(['{"id":1}']);
  });

  it('lets no message that the brokers refuse take others with it', async () => {
    const topic = unique();
    // A compacted topic takes no message without a key.
    await createTopic(brokers, topic, 1, [{ name: 'cleanup.policy', value: 'compact' }]);
    const gw = await serve(
      { orders: { brokers, topic, key: '$request.header.x-key' } },
      { args: ['--max-body-size', '4194304'] },
    );
    expect((await post(gw, 'orders', '0', { 'x-key': 'k' })).status).toBe(202);
    const bodies = ['1', '2', JSON.stringify('x'.repeat(2 << 20)), '3'];
    const all = await Promise.all([
      ...bodies.map((body) => post(gw, 'orders', body, { 'x-key': body.slice(0, 10) })),
      post(gw, 'orders', '4'),
    ]);
    expect(all.map(({ status }) => status)).toEqual([202, 202, 413, 202, 502]);
  });

  it('shares its connections between equal settings, and leaves none when it stops', async () => {
    const gate = new Gate(`kafka://${brokers}`);
    await gate.open();
    // The broker then names itself by its own address.
    const through = { brokers: `127.0.0.1:${gate.port}` };
    const gw = await serve({ a: { ...through, topic: unique() }, b: { ...through, topic: unique(), timeout: 9 } });
    expect(gate.accepted).toBe(0);
    const all = await Promise.all(Array.from({ length: 40 }, (_, i) => post(gw, i % 2 ? 'a' : 'b', '{}')));
    expect(new Set(all.map(({ status }) => status))).toEqual(new Set([202]));
    expect(gate.accepted).toBe(1);
    expect(await gw.stop()).toBe(0);
    await gate.close();
  });

  it('reaches no address that egress does not allow, named by a broker or not', async () => {
    const gate = new Gate(`kafka://${brokers}`);
    await gate.open();
    const gw = await serve(
      { orders: { brokers: `127.0.0.1:${gate.port}`, topic: unique(), timeout: 3 } },
      { egress: [] },
    );
    expect((await post(gw, 'orders', '{}')).status).toBe(502);
    expect(gate.accepted).toBe(0);
    // Reached by a name that is allowed, it names an address that is not.
    const named = await serve(
      { orders: { brokers: `localhost:${gate.port}`, topic: unique(), timeout: 3 } },
      { egress: ['--egress-allow', 'localhost'] },
    );
    expect([502, 504]).toContain((await post(named, 'orders', '{}')).status);
    expect(gate.accepted).toBeGreaterThan(0);
    await gate.close();
  });

  it('answers 502 where no broker is there, then 503, and finds them by itself when they are', async () => {
    const gate = new Gate(`kafka://${brokers}`);
    await gate.open();
    await gate.close();
    const gw = await serve({ orders: { brokers: `127.0.0.1:${gate.port}`, topic: unique(), timeout: 2 } });
    const five = await Promise.all(Array.from({ length: 5 }, () => post(gw, 'orders', '{}')));
    expect(five.map(({ status }) => status)).toEqual([502, 502, 502, 502, 502]);
    await eventually(async () => expect((await post(gw, 'orders', '{}')).status).toBe(503));
    await gate.open();
    await eventually(async () => expect((await post(gw, 'orders', '{}')).status).toBe(202));
    await gate.close();
  });
});

describe('stream-publish towards what is no Kafka', () => {
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
  ])('answers within its time where the broker says %s', async (_, says) => {
    speak = says;
    const gw = await serve({ orders: { brokers: peer.address, topic: 'a', timeout: 0.5 } });
    expect([502, 504]).toContain((await post(gw, 'orders', '{}')).status);
    expect(await gw.stop()).toBe(0);
    await eventually(() => expect(peer.sockets.size).toBe(0));
  });
});
