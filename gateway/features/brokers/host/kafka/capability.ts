/**
 * `host_kafka_open` and `host_kafka_publish`: the request's body as a message to a topic of Kafka;
 * `host_kafka_subscribe_open` and `host_kafka_subscribe`: a topic's messages as a stream of events.
 */

import { type Call, HostCallError } from '../../../kit.ts';
import { brokerCapability, type Destination } from '../broker-capability.ts';
import { KafkaBroker } from './kafka-broker.ts';
import type { KafkaAcknowledgement, KafkaMessage } from './kafka-message.ts';
import { type KafkaBrokers, type KafkaSettings, readKafkaBrokers, readKafkaSettings } from './kafka-settings.ts';
import { KafkaTopicSource } from './kafka-topic-source.ts';

/** Connecting, delivery that is tried for two minutes, and the last attempt. */
const HOLD_SECONDS = 180;

export const kafka = brokerCapability<KafkaSettings, KafkaBrokers, KafkaMessage, KafkaAcknowledgement>({
  name: 'kafka',
  meanings: {
    open: 'in `init`: opens the brokers that the whole config describes, with the properties of `stream-publish`; unusable settings reject the config',
    publish:
      "publishes the request's body to the topic, with a key (none where `key_len` is -1) and `name: value` lines as headers of the message, and waits until all in-sync replicas have it: results as those of `host_nats_publish`",
    subscribeOpen:
      'in `init`: opens what the whole config describes for subscribing, with the properties of `stream-subscribe`; unusable settings reject the config',
    subscribe:
      'hands the request off to a stream of the messages of a topic, of those with the key alone where `key_len` is not -1, from where its `Last-Event-ID` says: 0 the host streams, and `dispatch` returns 2; -1 no connection or refused, -2 no answer in `timeout`, -3 the circuit breaker is open, -4 as many clients as may stream it do, -5 the `Last-Event-ID` is not one of the topic (the reason is in the log)',
  },
  destination: { signature: 'iiii', parameters: 'topic, len, key, key_len' },
  publishTo: destinationOf,
  subscribeTo: destinationOf,
  readSettings: readKafkaSettings,
  readSource: readKafkaBrokers,
  connections: (guard) => ({
    broker: (brokers) => new KafkaBroker(brokers, guard),
    topic: (brokers, topic) => new KafkaTopicSource(brokers, topic, guard),
  }),
  message: ({ destination: [topic, key = null], payload, headers }) => ({ topic, key, payload, headers }),
  holdSeconds: () => HOLD_SECONDS,
  readers: {
    kafka_partition: {
      signature: ':i',
      parameters: '() -> partition',
      meaning: 'after `host_kafka_publish` returned 0: where the message is',
      read: ({ partition }) => partition,
    },
    kafka_offset: {
      signature: ':d',
      parameters: '() -> offset',
      meaning: 'its offset in that partition (f64); -1 if the brokers do not say',
      read: ({ offset }) => offset,
    },
  },
});

/** Names of topics that brokers accept. */
const TOPIC = /^(?!\.\.?$)[a-zA-Z0-9._-]{1,249}$/;

function destinationOf({ memory }: Call, topic: number, length: number, key: number, keyLength: number): Destination {
  const name = memory.text(topic, length);
  if (!TOPIC.test(name)) throw new HostCallError(`"${name.slice(0, 100)}" is not a name of a topic`);
  return [name, keyLength === -1 ? null : memory.text(key, keyLength)];
}
