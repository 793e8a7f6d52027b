/** stream-publish with a broker of its own: credentials, TLS, a broker that is killed and that hangs. */
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../../../test/eventually.ts';
import type { Gateway } from '../../../../test/serve/gateway.ts';
import { readAll } from '../../../../test/serve/kafka-client.ts';
import {
  expectTimeoutsThenOpenCircuit,
  post,
  type SendingSetup,
  serveSending,
} from '../../../../test/serve/sending.ts';
import { KAFKA_PASSWORD, KafkaServer, NO_KAFKA_SERVER } from './kafka-server.ts';
import { publishUnderKills } from './publish-under-kills.ts';

const { TLS_DIR = '' } = process.env;

const gateways: Gateway[] = [];
afterEach(async () => {
  await Promise.all(gateways.splice(0).map((gw) => gw.stop()));
});

async function serve(configs: Readonly<Record<string, object>>, setup?: SendingSetup): Promise<Gateway> {
  const gw = await serveSending('stream-publish', configs, setup);
  gateways.push(gw);
  return gw;
}

describe.skipIf(NO_KAFKA_SERVER)('stream-publish with its own broker (needs GW_KAFKA_CLASSPATH and TLS_DIR)', () => {
  let kafka: KafkaServer;
  beforeAll(async () => {
    kafka = await KafkaServer.start();
  });
  afterAll(() => kafka?.close());

  it('identifies itself by PLAIN and SCRAM, with TLS and without, and says nothing of it', async () => {
    const file = (name: string) => join(TLS_DIR, name);
    const tls = { ca: file('ca.crt'), client_cert: file('client.crt'), client_key: file('client.key') };
    const secret = (mechanism: string, password = 'env://SECRET') => ({ mechanism, username: 'gw', password });
    const base = { topic: 'orders', timeout: 4, allow_plaintext: true };
    const good = ['plain', 'scram-sha-256', 'scram-sha-512'].flatMap((mechanism, i) => [
      [`sasl${'abc'[i]}`, { ...base, brokers: kafka.sasl, sasl: secret(mechanism) }] as const,
      [`tls${'abc'[i]}`, { ...base, brokers: kafka.tls, sasl: secret(mechanism), tls }] as const,
    ]);
    const bad = [
      ['wrong', { ...base, brokers: kafka.sasl, sasl: secret('scram-sha-256', 'wrong-secret') }],
      ['clear', { ...base, brokers: kafka.sasl, sasl: secret('plain', 'wrong-secret') }],
      ['nobody', { ...base, brokers: kafka.sasl }],
      ['stranger', { ...base, brokers: kafka.tls, sasl: secret('plain'), tls: { ...tls, ca: undefined } }],
      ['blank', { ...base, brokers: kafka.tls, sasl: secret('plain'), tls: { ca: tls.ca } }],
    ] as const;
    const gw = await serve(Object.fromEntries([...good, ...bad]), {
      env: { SECRET: KAFKA_PASSWORD, GW_SECRETS_DIR: dirname(file('ca.crt')) },
    });
    for (const [name] of good) expect([name, (await post(gw, name, '{}')).status]).toEqual([name, 202]);
    const said: unknown[] = [];
    for (const [name] of bad) {
      const response = await post(gw, name, '{}');
      expect([name, [502, 504].includes(response.status)]).toEqual([name, true]);
      said.push(await response.text());
    }
    for (const each of [KAFKA_PASSWORD, 'wrong-secret']) expect(JSON.stringify([gw.log, said])).not.toContain(each);
  });

  it('has in the log what got 202, each once, while the broker is killed again and again', async () => {
    const topic = `t${crypto.randomUUID()}`;
    const gw = await serve({ a: { brokers: kafka.brokers, topic, timeout: 20, idempotency: { window: 600 } } });
    const { accepted } = await publishUnderKills(gw, 'a', {
      rounds: 2,
      messages: 100,
      restart: async () => {
        await kafka.kill();
        await kafka.up();
      },
    });
    const stored = (await readAll(kafka.brokers, topic)).map(({ value }) => String(value));
    expect(stored.length).toBe(new Set(stored).size);
    const there = new Set(stored);
    expect([...accepted].filter((each) => !there.has(each))).toEqual([]);
  });

  it('answers within its time while the broker hangs, and has each message once when it goes on', async () => {
    const topic = `t${crypto.randomUUID()}`;
    const base = { brokers: kafka.brokers, topic };
    const gw = await serve({ a: { ...base, timeout: 0.5 }, patient: { ...base, timeout: 60 } });
    await eventually(async () => expect((await post(gw, 'patient', '"first"')).status).toBe(202));
    kafka.hang();
    const late = await expectTimeoutsThenOpenCircuit(gw, 'a');
    kafka.goOn();
    await eventually(async () => expect((await post(gw, 'patient', '"last"')).status).toBe(202));
    const stored = (await readAll(kafka.brokers, topic)).map(({ value }) => String(value));
    expect(stored.filter((each) => /^\d+$/.test(each)).toSorted()).toEqual(late.toSorted());
  });
});
