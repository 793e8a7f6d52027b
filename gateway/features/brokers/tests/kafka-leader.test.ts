/** stream-publish with three nodes of Kafka, of which the one that leads the topic's partition is lost. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../../../test/eventually.ts';
import { client, createTopic, readAll } from '../../../../test/serve/kafka-client.ts';
import { serveSending } from '../../../../test/serve/sending.ts';
import { KafkaServer, NO_KAFKA_SERVER } from './kafka-server.ts';
import { publishUnderKills } from './publish-under-kills.ts';

describe.skipIf(NO_KAFKA_SERVER)('stream-publish and three nodes (needs GW_KAFKA_CLASSPATH and TLS_DIR)', () => {
  let nodes: readonly KafkaServer[] = [];
  beforeAll(async () => {
    nodes = await KafkaServer.startCluster(3);
  });
  afterAll(() => Promise.all(nodes.map((node) => node.close())));

  const brokersBut = (lost?: KafkaServer) =>
    nodes
      .filter((node) => node !== lost)
      .map(({ brokers }) => brokers)
      .join(',');

  async function leaderOf(topic: string, lost?: KafkaServer): Promise<KafkaServer> {
    const admin = client(brokersBut(lost)).admin();
    await admin.connect();
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
    await admin.disconnect();
    const { leader, isr } = topics[0]?.partitions[0] ?? {};
    expect(isr).toHaveLength(lost ? nodes.length - 1 : nodes.length);
    return nodes.find(({ id }) => id === leader) as KafkaServer;
  }

  it('has what got 202, each once, where the leader is killed again and again', async () => {
    const topic = `t${crypto.randomUUID()}`;
    await createTopic(brokersBut(), topic, 1, [], nodes.length);
    const gw = await serveSending('stream-publish', {
      a: { brokers: brokersBut(), topic, timeout: 20, idempotency: { window: 600 } },
    });
    const led: number[] = [];
    const { accepted, statuses } = await publishUnderKills(gw, 'a', {
      rounds: 2,
      messages: 100,
      restart: async () => {
        const leader = await eventually(() => leaderOf(topic));
        await leader.kill();
        led.push(leader.id, (await eventually(() => leaderOf(topic, leader))).id);
        await leader.up();
      },
    });
    expect(await gw.stop()).toBe(0);
    for (let i = 0; i < led.length; i += 2) expect(led[i]).not.toBe(led[i + 1]);
    // The others go on: clients only have to wait for the one that leads then.
    expect([...statuses.keys()]).toEqual(expect.arrayContaining([202]));
    const stored = (await readAll(brokersBut(), topic)).map(({ value }) => String(value));
    expect(stored.length).toBe(new Set(stored).size);
    const there = new Set(stored);
    expect([...accepted].filter((each) => !there.has(each))).toEqual([]);
  });
});
