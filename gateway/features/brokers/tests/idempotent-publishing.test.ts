/** Messages that are published once for an `Idempotency-Key`, by a real `gw serve` to real brokers. */
import type { NatsConnection } from '@nats-io/nats-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../../../test/eventually.ts';
import { Gate } from '../../../../test/serve/gate.ts';
import { type Gateway, jsonOf } from '../../../../test/serve/gateway.ts';
import { createTopic, readAll } from '../../../../test/serve/kafka-client.ts';
import { connect as connectNats } from '../../../../test/serve/nats-client.ts';
import { post, type SendingSetup, serveSending } from '../../../../test/serve/sending.ts';

const { NATS_URL = '', KAFKA_BROKERS = '', REDIS_URL = '' } = process.env;

const gateways: Gateway[] = [];
afterEach(async () => {
  await Promise.all(gateways.splice(0).map((gw) => gw.stop()));
});
const unique = () => `t${crypto.randomUUID().replaceAll('-', '')}`;
const keyed = (key: string, more: Readonly<Record<string, string>> = {}) => ({ 'idempotency-key': key, ...more });
const idempotency = { window: 60 };

describe.skipIf(KAFKA_BROKERS === '')('stream-publish with Idempotency-Key (needs KAFKA_BROKERS)', () => {
  async function serve(config: object, setup?: SendingSetup): Promise<Gateway> {
    const gw = await serveSending(
      'stream-publish',
      { a: { brokers: KAFKA_BROKERS, ...config }, b: { brokers: KAFKA_BROKERS, ...config } },
      setup,
    );
    gateways.push(gw);
    return gw;
  }
  const values = async (topic: string) => (await readAll(KAFKA_BROKERS, topic)).map(({ value }) => String(value));

  it('publishes once, gives repeats the first answer, and each operation has its own keys', async () => {
    const topic = unique();
    const gw = await serve({ topic, include_metadata: true, idempotency });
    const key = unique();
    const first = await post(gw, 'a', '1', keyed(key));
    const again = await post(gw, 'a', '1', keyed(key, { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` }));
    const [said, repeated] = [await jsonOf(first), await jsonOf(again)];
    expect([first.status, again.status]).toEqual([202, 202]);
    expect(repeated).toEqual(said);
    expect([first.headers.get('idempotent-replayed'), again.headers.get('idempotent-replayed')]).toEqual([
      null,
      'true',
    ]);
    const other = await post(gw, 'a', '2', keyed(key));
    expect([other.status, await other.json()]).toEqual([
      422,
      expect.objectContaining({ type: 'urn:gw:error:idempotency-key-reused', status: 422 }),
    ]);
    expect((await post(gw, 'a?x=1', '1', keyed(key))).status).toBe(422);
    expect((await post(gw, 'b', '1', keyed(key))).status).toBe(202);
    expect((await post(gw, 'a', '1')).status).toBe(202);
    expect(await values(topic)).toEqual(['1', '1', '1']);
  });

  it('ignores the header where the config does not say so, and wants it where it is required', async () => {
    const [off, required] = [unique(), unique()];
    const gw = await serve({ topic: off });
    for (let i = 0; i < 2; i++) expect((await post(gw, 'a', '1', keyed('k'))).status).toBe(202);
    expect(await values(off)).toEqual(['1', '1']);
    const strict = await serve({ topic: required, idempotency: { required: true } });
    expect((await post(strict, 'a', '1')).status).toBe(400);
    expect((await post(strict, 'a', '1', keyed('x'.repeat(256)))).status).toBe(400);
    expect((await post(strict, 'a', '1', keyed('"8e03978e-40d5-43dd-bc93-6894a57f9324"'))).status).toBe(202);
  });

  it('publishes once however many ask at once, over all workers', async () => {
    const topic = unique();
    const gw = await serve({ topic, idempotency }, { args: ['--workers', '2'] });
    const key = unique();
    const all = await Promise.all(
      Array.from({ length: 40 }, () => post(gw, 'a', '1', keyed(key, { connection: 'close' }))),
    );
    const statuses = new Set(all.map(({ status }) => status));
    expect([...statuses].filter((each) => each !== 202 && each !== 409)).toEqual([]);
    const waits = all.find(({ status }) => status === 409);
    if (waits) expect(Number(waits.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await post(gw, 'a', '1', keyed(key))).headers.get('idempotent-replayed')).toBe('true');
    expect(await values(topic)).toEqual(['1']);
  });

  it.skipIf(REDIS_URL === '')('publishes once over all pods that share a state (needs REDIS_URL)', async () => {
    const topic = unique();
    await createTopic(KAFKA_BROKERS, topic, 3);
    const setup = { args: ['--state', REDIS_URL, '--state-prefix', unique()] };
    const config = { topic, include_metadata: true, idempotency };
    const [one, two] = [await serve(config, setup), await serve(config, setup)];
    const key = unique();
    const first = await jsonOf(await post(one, 'a', '1', keyed(key)));
    expect(await jsonOf(await post(two, 'a', '1', keyed(key)))).toEqual(first);
    expect((await post(two, 'a', '2', keyed(key))).status).toBe(422);
    expect(await values(topic)).toEqual(['1']);
  });

  it.skipIf(REDIS_URL === '')('publishes nothing while the state is away (needs REDIS_URL)', async () => {
    const topic = unique();
    const gate = new Gate(REDIS_URL);
    await gate.open();
    const gw = await serve({ topic, idempotency }, { args: ['--state', gate.url] });
    expect((await post(gw, 'a', '1', keyed(unique()))).status).toBe(202);
    await gate.close();
    const refused = await post(gw, 'a', '2', keyed(unique()));
    expect([refused.status, await refused.json()]).toEqual([
      503,
      expect.objectContaining({ type: 'urn:gw:error:state-unavailable' }),
    ]);
    expect((await post(gw, 'a', '3')).status).toBe(202);
    expect(await values(topic)).toEqual(['1', '3']);
  });
});

describe.skipIf(NATS_URL === '')('subject-publish with Idempotency-Key (needs NATS_URL)', () => {
  let nats: NatsConnection;
  beforeAll(async () => {
    nats = await connectNats(NATS_URL);
  });
  afterAll(() => nats?.close());

  async function serve(config: object, setup?: SendingSetup): Promise<Gateway> {
    const gw = await serveSending('subject-publish', { a: { url: NATS_URL, idempotency, ...config } }, setup);
    gateways.push(gw);
    return gw;
  }

  it('answers 409 while the first is on its way, and publishes again where that has failed', async () => {
    const subject = unique();
    const gate = new Gate(NATS_URL);
    await gate.open();
    const gw = await serve({ url: gate.url, subject, timeout: 2 });
    const arrived: string[] = [];
    nats.subscribe(subject, { callback: (_, message) => void arrived.push(message.string()) });
    await nats.flush();
    expect((await post(gw, 'a', '0')).status).toBe(202);
    gate.silent = true;
    const key = unique();
    const first = post(gw, 'a', '1', keyed(key));
    await eventually(async () => {
      const repeat = await post(gw, 'a', '1', keyed(key));
      expect([repeat.status, repeat.headers.get('retry-after'), await repeat.json()]).toEqual([
        409,
        '1',
        expect.objectContaining({ type: 'urn:gw:error:request-in-progress' }),
      ]);
    });
    expect((await post(gw, 'a', '2', keyed(key))).status).toBe(422);
    expect((await first).status).toBe(504);
    await gate.close();
    gate.silent = false;
    await gate.open();
    await eventually(async () => expect((await post(gw, 'a', '1', keyed(key))).status).toBe(202));
    await eventually(() => expect(arrived).toEqual(['0', '1']));
    await gate.close();
  });

  it('gives no consumer the answer of another', async () => {
    const subject = unique();
    const keys = ['ann', 'bob'].map((id) => ({ key: `${id}-secret`, id, name: id, scopes: [] }));
    const gw = await serve(
      { subject },
      {
        middlewares: [{ name: 'apikey-auth', config: { keys } }],
        security: { key: { type: 'httpApiKey', name: 'X-API-Key', in: 'header' } },
      },
    );
    const arrived: string[] = [];
    nats.subscribe(subject, { callback: (_, message) => void arrived.push(message.string()) });
    await nats.flush();
    const send = (id: string) => post(gw, 'a', id, keyed('same', { 'x-api-key': `${id}-secret` }));
    const statuses = [(await send('ann')).status, (await send('bob')).status, (await send('ann')).status];
    expect(statuses).toEqual([202, 202, 202]);
    await eventually(() => expect(arrived).toEqual(['ann', 'bob']));
  });
});
