/** stream-subscribe with a broker of its own: credentials, TLS, a broker that is killed and that hangs. */
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../../../test/eventually.ts';
import { createTopic, publish, readAll } from '../../../../test/serve/kafka-client.ts';
import { KAFKA_PASSWORD, KafkaServer, NO_KAFKA_SERVER } from './kafka-server.ts';
import { streaming } from './streaming.ts';

const { TLS_DIR = '' } = process.env;

describe.skipIf(NO_KAFKA_SERVER)('stream-subscribe with its own broker (needs GW_KAFKA_CLASSPATH and TLS_DIR)', () => {
  const { serve, open } = streaming('stream-subscribe');
  let kafka: KafkaServer;
  beforeAll(async () => {
    kafka = await KafkaServer.start();
  });
  afterAll(() => kafka?.close());

  it('identifies itself by SCRAM and PLAIN, with TLS and without, and says nothing of it', async () => {
    const file = (name: string) => join(TLS_DIR, name);
    const tls = { ca: file('ca.crt'), client_cert: file('client.crt'), client_key: file('client.key') };
    const secret = (mechanism: string, password = 'env://SECRET') => ({ mechanism, username: 'gw', password });
    const base = { topic: 'orders', timeout: 4, allow_plaintext: true };
    const gw = await serve(
      {
        scram: { ...base, brokers: kafka.sasl, sasl: secret('scram-sha-512') },
        plain: { ...base, brokers: kafka.tls, sasl: secret('plain'), tls },
        wrong: { ...base, brokers: kafka.sasl, sasl: secret('scram-sha-256', 'wrong-secret') },
        nobody: { ...base, brokers: kafka.sasl },
        stranger: { ...base, brokers: kafka.tls, sasl: secret('plain'), tls: { ...tls, ca: undefined } },
      },
      { env: { SECRET: KAFKA_PASSWORD, GW_SECRETS_DIR: dirname(file('ca.crt')) } },
    );
    const streams = [await open(gw, 'scram'), await open(gw, 'plain')];
    expect(streams.map(({ status }) => status)).toEqual([200, 200]);
    await eventually(() => expect(streams.map(({ lastId }) => lastId === '')).toEqual([false, false]));
    await publish(kafka.brokers, 'orders', [{ value: 'for those who may' }]);
    for (const stream of streams) await stream.until(1);
    for (const name of ['wrong', 'nobody', 'stranger']) {
      expect([name, [502, 504].includes((await open(gw, name)).status)]).toEqual([name, true]);
    }
    for (const each of [KAFKA_PASSWORD, 'wrong-secret']) expect(JSON.stringify(gw.log)).not.toContain(each);
  });

  it('goes on where it was when its broker is killed and comes back, while clients stay and others resume', async () => {
    const topic = `t${crypto.randomUUID()}`;
    await createTopic(kafka.brokers, topic, 3);
    const gw = await serve({ orders: { brokers: kafka.brokers, topic } });
    const stayed = await open(gw, 'orders');
    await eventually(() => expect(stayed.lastId).not.toBe(''));
    const first = stayed.lastId;
    const publishSome = (round: number) =>
      publish(
        kafka.brokers,
        topic,
        Array.from({ length: 200 }, (_, i) => ({ value: `${round}/${i}` })),
      );
    for (let round = 0; round < 3; round++) {
      await publishSome(round);
      await kafka.kill();
      // It resumes while there is no broker to resume from.
      const resuming = open(gw, 'orders', { headers: { 'last-event-id': first } }).catch(() => null);
      await kafka.up();
      await publishSome(round + 100);
      await resuming;
    }
    const stored = (await readAll(kafka.brokers, topic)).map(({ value }) => String(value));
    expect((await stayed.until(stored.length)).map(({ data }) => data).toSorted()).toEqual(stored.toSorted());
    expect(stayed.end).toBe(null);
    const resumed = await open(gw, 'orders', { headers: { 'last-event-id': first } });
    expect((await resumed.until(stored.length)).map(({ data }) => data).toSorted()).toEqual(stored.toSorted());
    expect(resumed.lastId).toBe(stayed.lastId);
    const said = gw.log.filter(({ msg }) => msg.includes('available'));
    expect(said.map(({ level }) => level).slice(0, 2)).toEqual(['error', 'info']);
  });

  it('keeps its clients while the broker hangs, and tells new ones in time', async () => {
    const topic = `t${crypto.randomUUID()}`;
    await createTopic(kafka.brokers, topic);
    const gw = await serve({
      orders: { brokers: kafka.brokers, topic },
      others: { brokers: kafka.brokers, topic: `${topic}x`, timeout: 1 },
    });
    const stream = await open(gw, 'orders');
    await eventually(() => expect(stream.lastId).not.toBe(''));
    kafka.hang();
    expect([502, 504]).toContain((await open(gw, 'others')).status);
    kafka.goOn();
    await publish(kafka.brokers, topic, [{ value: 'later' }]);
    expect((await stream.until(1)).map(({ data }) => data)).toEqual(['later']);
  });
});
