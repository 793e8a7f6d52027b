/** A client of Kafka that is not the gateway's: what is in a topic. */
import kafkajs, { type KafkaMessage, logLevel } from 'kafkajs';

export type Published = KafkaMessage & { readonly partition: number };

export function client(brokers: string) {
  return new kafkajs.Kafka({ brokers: brokers.split(','), logLevel: logLevel.NOTHING, clientId: 'test' });
}

export async function createTopic(
  brokers: string,
  topic: string,
  numPartitions = 1,
  config: { name: string; value: string }[] = [],
  replicationFactor = 1,
) {
  const admin = client(brokers).admin();
  await admin.connect();
  await admin.createTopics({
    topics: [{ topic, numPartitions, replicationFactor, configEntries: config }],
    waitForLeaders: true,
  });
  await admin.disconnect();
}

/** All messages that the topic has now, by partition and offset. */
export async function readAll(brokers: string, topic: string): Promise<readonly Published[]> {
  const kafka = client(brokers);
  const admin = kafka.admin();
  await admin.connect();
  const ends = await admin.fetchTopicOffsets(topic);
  await admin.disconnect();
  const expected = ends.reduce((sum, { high, low }) => sum + Number(high) - Number(low), 0);
  const records: Published[] = [];
  if (expected === 0) return records;
  const consumer = kafka.consumer({ groupId: `test-${crypto.randomUUID()}` });
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  const left = new Map(ends.filter(({ high, low }) => high !== low).map(({ partition, high }) => [partition, high]));
  await new Promise<void>((resolve, reject) => {
    consumer
      .run({
        eachMessage: async ({ partition, message }) => {
          records.push({ ...message, partition });
          if (Number(message.offset) + 1 >= Number(left.get(partition) ?? 0)) left.delete(partition);
          if (left.size === 0) resolve();
        },
      })
      .catch(reject);
  });
  await consumer.disconnect();
  return records.sort((a, b) => a.partition - b.partition || Number(a.offset) - Number(b.offset));
}
