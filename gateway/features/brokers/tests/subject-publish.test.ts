/** subject-publish through a real `gw serve`, to real servers. */

import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/nats-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../../../test/eventually.ts';
import { MisbehavingPeer } from '../../../../test/misbehaving-peer.ts';
import { Gate } from '../../../../test/serve/gate.ts';
import type { Gateway } from '../../../../test/serve/gateway.ts';
import { connect as connectNats } from '../../../../test/serve/nats-client.ts';
import { post, type SendingSetup, serveDocument, serveSending } from '../../../../test/serve/sending.ts';

const { NATS_URL = '' } = process.env;

const gateways: Gateway[] = [];
afterEach(async () => {
  await Promise.all(gateways.splice(0).map((gw) => gw.stop()));
});

async function serve(configs: Readonly<Record<string, object>>, setup?: SendingSetup): Promise<Gateway> {
  const gw = await serveSending('subject-publish', configs, setup);
  gateways.push(gw);
  return gw;
}

const unique = () => `t${crypto.randomUUID().replaceAll('-', '')}`;

describe.skipIf(NATS_URL === '')('subject-publish (needs NATS_URL)', () => {
  let nats: NatsConnection;
  beforeAll(async () => {
    nats = await connectNats(NATS_URL);
  });
  afterAll(() => nats?.close());

  it('publishes the body as it came, with content type, trace and the headers that the config names', async () => {
    const subject = unique();
    const gw = await serve(
      { orders: { url: NATS_URL, subject, headers_from_request: ['X-Tenant', 'x-absent'] } },
      { contentType: 'application/octet-stream' },
    );
    const arrived = nats.subscribe(subject, { max: 1 });
    await nats.flush();
    const body = Uint8Array.from({ length: 5_000 }, (_, i) => i % 256);
    const response = await post(gw, 'orders', body, {
      'content-type': 'application/octet-stream',
      'x-tenant': 'acme',
      'x-other': 'stays',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    });
    expect([response.status, response.headers.get('content-type')]).toEqual([202, 'application/json']);
    expect(await response.json()).toEqual({ status: 'accepted', subject });
    for await (const message of arrived) {
      expect(Buffer.from(message.data).equals(body)).toBe(true);
      expect(Object.fromEntries(message.headers ?? [])).toEqual({
        'Content-Type': ['application/octet-stream'],
        'X-Tenant': ['acme'],
        traceparent: [expect.stringMatching(/^00-0af7651916cd43dd8448eb211c80319c-/)],
      });
    }
  });

  it('answers with ack_response where the config has one', async () => {
    const ack_response = {
      body: { queued: true, of: 'orders' },
      headers: { 'X-Queue': 'orders', 'Cache-Control': 'no-store' },
    };
    const gw = await serve({
      own: { url: NATS_URL, subject: unique(), ack_response },
      headers: { url: NATS_URL, subject: 'fixed', ack_response: { headers: { 'X-Queue': 'a' } } },
    });
    const own = await post(gw, 'own', '{}');
    expect([own.status, own.headers.get('x-queue'), own.headers.get('cache-control')]).toEqual([
      202,
      'orders',
      'no-store',
    ]);
    expect(await own.json()).toEqual(ack_response.body);
    const headers = await post(gw, 'headers', '{}');
    expect([headers.headers.get('x-queue'), await headers.json()]).toEqual([
      'a',
      { status: 'accepted', subject: 'fixed' },
    ]);
  });

  it('works as its README shows', async () => {
    const readme = readFileSync(join(import.meta.dirname, '../plugins/subject-publish/README.md'), 'utf8');
    const [, example = ''] = /```yaml\n([\s\S]*?)```/.exec(readme) ?? [];
    expect(example).toContain('url: nats://localhost:4222');
    const gw = await serveDocument(
      example.replace('url: nats://localhost:4222', `url: ${NATS_URL}`),
      'subject-publish',
    );
    gateways.push(gw);
    const response = await post(gw, 'orders', '{"id":1}');
    expect([response.status, await response.json()]).toEqual([202, { status: 'accepted', subject: 'orders.placed' }]);
    expect((await post(gw, 'orders', '{"id":"one"}')).status).toBe(400);
  });

  it('publishes nothing that does not fit its schema', async () => {
    const subject = unique();
    const payload = { type: 'object', required: ['id'], properties: { id: { type: 'integer' } } };
    const gw = await serve({ orders: { url: NATS_URL, subject } }, { payload });
    const arrived: string[] = [];
    nats.subscribe(subject, { callback: (_, message) => void arrived.push(message.string()) });
    await nats.flush();
    const refused = await post(gw, 'orders', '{"id":"one"}');
    expect([refused.status, await refused.json()]).toEqual([400, expect.objectContaining({ status: 400 })]);
    expect((await post(gw, 'orders', '')).status).toBe(400);
    expect((await post(gw, 'orders', '{"id":1}')).status).toBe(202);
    await eventually(() => expect(arrived).toEqual(['{"id":1}']));
  });

  it('is acknowledged by the stream that listens on the subject, and by the server where none does', async () => {
    const [kept, plain, none] = [unique(), unique(), unique()];
    const manager = await jetstreamManager(nats);
    await manager.streams.add({ name: kept, subjects: [kept], max_msgs: 2, discard: 'new' });
    const gw = await serve({
      kept: { url: NATS_URL, subject: kept },
      plain: { url: NATS_URL, subject: plain },
      must: { url: NATS_URL, subject: none, acknowledgement: 'stream' },
      unasked: { url: NATS_URL, subject: kept, acknowledgement: 'none' },
    });
    // Somebody who listens, and answers nothing, is no stream.
    nats.subscribe(plain);
    await nats.flush();
    const statuses: number[] = [];
    for (const name of ['kept', 'kept', 'kept', 'plain', 'must', 'unasked'])
      statuses.push((await post(gw, name, '{}')).status);
    // The stream takes two, and says so of the third.
    expect(statuses).toEqual([202, 202, 502, 202, 502, 202]);
    expect((await manager.streams.info(kept)).state.messages).toBe(2);
    await manager.streams.delete(kept);
    expect((await post(gw, 'kept', '{}')).status).toBe(202);
  });

  it('answers 413 to what is larger than the server takes', async () => {
    const gw = await serve({ orders: { url: NATS_URL, subject: unique() } }, { args: ['--max-body-size', '4194304'] });
    const response = await post(gw, 'orders', JSON.stringify('x'.repeat(2 << 20)));
    expect([response.status, await response.json()]).toEqual([
      413,
      expect.objectContaining({ type: 'urn:gw:error:payload-too-large' }),
    ]);
    expect((await post(gw, 'orders', '{}')).status).toBe(202);
  });

  it('shares one connection between equal settings, and leaves none when it stops', async () => {
    const gate = new Gate(NATS_URL);
    await gate.open();
    const gw = await serve({
      a: { url: gate.url, subject: unique() },
      b: { url: gate.url, subject: unique(), timeout: 5 },
    });
    expect(gate.accepted).toBe(0);
    const all = await Promise.all(Array.from({ length: 50 }, (_, i) => post(gw, i % 2 ? 'a' : 'b', '{}')));
    expect(new Set(all.map(({ status }) => status))).toEqual(new Set([202]));
    expect(gate.accepted).toBe(1);
    expect(await gw.stop()).toBe(0);
    await gate.close();
  });

  it('reaches no address that egress does not allow', async () => {
    const gate = new Gate(NATS_URL);
    await gate.open();
    const gw = await serve({ orders: { url: gate.url, subject: unique() } }, { egress: [] });
    const refused = await post(gw, 'orders', '{}');
    expect([refused.status, await refused.json()]).toEqual([
      502,
      expect.objectContaining({ type: 'urn:gw:error:upstream-failed' }),
    ]);
    expect(gate.accepted).toBe(0);
    await gate.close();
  });

  it('rides out a server that is away for a moment, and answers 502, then 503, where it stays away', async () => {
    const gate = new Gate(NATS_URL);
    await gate.open();
    const gw = await serve({
      long: { url: gate.url, subject: unique() },
      short: { url: gate.url, subject: unique(), timeout: 2 },
    });
    expect((await post(gw, 'long', '{}')).status).toBe(202);
    await gate.close();
    const waits = post(gw, 'long', '{}');
    expect((await post(gw, 'short', '{}')).status).toBe(502);
    await gate.open();
    expect((await waits).status).toBe(202);
    await gate.close();
    const statuses: number[] = [];
    // Some may still be on the connection that is lost, which says nothing of the next.
    const open = await eventually(async () => {
      const five = await Promise.all(Array.from({ length: 5 }, () => post(gw, 'short', '{}')));
      statuses.push(...five.map(({ status }) => status));
      const unavailable = five.find(({ status }) => status === 503);
      return unavailable ?? Promise.reject(new Error(`none is unavailable: ${statuses}`));
    });
    expect(statuses.slice(0, 5)).toEqual([502, 502, 502, 502, 502]);
    expect(new Set(statuses)).toEqual(new Set([502, 503]));
    expect(Number(open.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await open.json()).toMatchObject({ type: 'urn:gw:error:upstream-unavailable' });
    await gate.open();
    await eventually(async () => expect((await post(gw, 'long', '{}')).status).toBe(202));
    await gate.close();
  });

  it('answers 504 where the server hangs, in its time, and serves others meanwhile', async () => {
    const gate = new Gate(NATS_URL);
    await gate.open();
    const gw = await serve({
      hangs: { url: gate.url, subject: unique(), timeout: 0.3 },
      patient: { url: gate.url, subject: unique(), timeout: 60 },
      works: { url: NATS_URL, subject: unique() },
    });
    expect((await post(gw, 'patient', '{}')).status).toBe(202);
    gate.silent = true;
    const hangs = post(gw, 'hangs', '{}');
    expect((await post(gw, 'works', '{}')).status).toBe(202);
    const late = await hangs;
    expect([late.status, await late.json()]).toEqual([
      504,
      expect.objectContaining({ type: 'urn:gw:error:upstream-timeout' }),
    ]);
    await gate.close();
    gate.silent = false;
    await gate.open();
    await eventually(async () => expect((await post(gw, 'patient', '{}')).status).toBe(202));
    await gate.close();
  });
});

describe('subject-publish towards what is no NATS', () => {
  let peer: MisbehavingPeer;
  let speak: (socket: Socket) => void = () => {};
  beforeAll(async () => {
    peer = await MisbehavingPeer.start((socket) => speak(socket));
  });
  afterAll(() => peer?.close());
  const INFO = 'INFO {"server_id":"x","version":"2.9.0","proto":1,"headers":true,"max_payload":1048576}\r\n';

  it.each<[string, (socket: Socket) => void]>([
    ['nothing', () => {}],
    ['another protocol', (socket) => socket.write('HTTP/1.1 200 OK\r\n\r\n')],
    ['INFO without an end', (socket) => socket.write(`INFO {"a":"${'x'.repeat(2 << 20)}`)],
    ['INFO that is no JSON', (socket) => socket.write('INFO {nonsense\r\n')],
    [
      'nonsense behind INFO',
      (socket) => socket.write(INFO).valueOf() && socket.once('data', () => socket.write('\0\0nonsense\r\n')),
    ],
    [
      'a second INFO that is no JSON',
      (socket) => socket.write(INFO).valueOf() && socket.once('data', () => socket.write('INFO {x\r\n')),
    ],
    ['its end', (socket) => socket.end(INFO)],
  ])('answers within its time where the server says %s', async (_, says) => {
    speak = says;
    const gw = await serve({ orders: { url: `nats://${peer.address}`, subject: 'a', timeout: 0.3 } });
    const { status } = await post(gw, 'orders', '{}');
    expect([502, 504]).toContain(status);
    expect(await gw.stop()).toBe(0);
    await eventually(() => expect(peer.sockets.size).toBe(0));
  });
});
