/** A client of Kafka that is not the gateway's: what is in a topic, and puts more there. */
import kafkajs, { type KafkaMessage, logLevel, type Message } from 'kafkajs';

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

/** Resolves when the brokers have them. */
export async function publish(brokers: string, topic: string, messages: readonly Message[]): Promise<void> {
  const producer = client(brokers).producer({ createPartitioner: kafkajs.Partitioners.DefaultPartitioner });
  await producer.connect();
  await producer.send({ topic, messages: [...messages], acks: -1 });
  await producer.disconnect();
}

/** Messages that are in the log, and are to be read only where it ends with `commit`. */
export async function publishInTransaction(
  brokers: string,
  topic: string,
  values: readonly string[],
  end: 'commit' | 'abort',
): Promise<void> {
  const producer = client(brokers).producer({ transactionalId: crypto.randomUUID(), maxInFlightRequests: 1 });
  await producer.connect();
  const transaction = await producer.transaction();
  await transaction.send({ topic, messages: values.map((value) => ({ value })) });
  await transaction[end]();
  await producer.disconnect();
}

/** As if they had expired. */
export async function deleteBefore(brokers: string, topic: string, partition: number, offset: number): Promise<void> {
  const admin = client(brokers).admin();
  await admin.connect();
  // So that it knows who leads them.
  await admin.fetchTopicOffsets(topic);
  await admin.deleteTopicRecords({ topic, partitions: [{ partition, offset: String(offset) }] });
  await admin.disconnect();
}
