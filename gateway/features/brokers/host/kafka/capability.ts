/**
 * `host_kafka_open` and `host_kafka_publish`: the request's body as a message to a topic of Kafka;
 * `host_kafka_subscribe_open` and `host_kafka_subscribe`: a topic's messages as a stream of events.
 */

import { capability, HostCallError, InFlight, onlyIn, openedInInit } from '../../../kit.ts';
import { publishMessage } from '../publishing/publish-message.ts';
import { Publisher } from '../publishing/publisher.ts';
import { Publishers } from '../publishing/publishers.ts';
import { headersOf, LastPublication, payloadOf, published } from '../publishing/publishing-call.ts';
import { DROPPED_MESSAGES, OPEN_STREAMS, STREAMS } from '../subscribing/streams-metric.ts';
import { Subscribers } from '../subscribing/subscribers.ts';
import { subscribed } from '../subscribing/subscribing-call.ts';
import { readSubscriptionSettings, type SubscriptionSettings } from '../subscribing/subscription-settings.ts';
import { Topics } from '../subscribing/topics.ts';
import { KafkaBroker } from './kafka-broker.ts';
import type { KafkaAcknowledgement, KafkaMessage } from './kafka-message.ts';
import { type KafkaBrokers, type KafkaSettings, readKafkaBrokers, readKafkaSettings } from './kafka-settings.ts';
import { KafkaTopicSource } from './kafka-topic-source.ts';

interface Opened {
  publisher: Publisher<KafkaMessage, KafkaAcknowledgement>;
  settings: KafkaSettings;
}

/** Connecting, delivery that is tried for two minutes, and the last attempt. */
const HOLD_SECONDS = 180;

/** A topic to read, and the settings of its clients. */
interface Subscribable {
  readonly brokers: KafkaBrokers;
  readonly settings: SubscriptionSettings;
  /** Identifies the config whose clients are counted together. */
  readonly config: string;
}

/** Objects that `init` has opened. */
interface Bound {
  opened: Opened | null;
  subscribable: Subscribable | null;
}

export const kafka = capability({
  metrics: {
    gw_kafka_streams_total: STREAMS,
    gw_kafka_streams: OPEN_STREAMS,
    gw_kafka_messages_dropped_total: DROPPED_MESSAGES,
  },
  open: ({ guard, state, counter, sampled }) => {
    const inFlight = new InFlight();
    const publishers = new Publishers<KafkaBrokers, KafkaMessage, KafkaAcknowledgement>(
      (brokers, log) => new Publisher(new KafkaBroker(brokers, guard), inFlight.share(), log),
    );
    const topics = new Topics<KafkaBrokers>((brokers, topic) => new KafkaTopicSource(brokers, topic, guard));
    const subscribers = new Subscribers({
      streams: counter('gw_kafka_streams_total', STREAMS),
      dropped: counter('gw_kafka_messages_dropped_total', DROPPED_MESSAGES),
    });
    sampled('gw_kafka_streams', OPEN_STREAMS, () => [{ labels: {}, value: subscribers.count }]);
    return { publishers, reservations: state.reservations, topics, subscribers };
  },
  load: ({ publishers, reservations, topics, subscribers }, { readPem, log }) => ({
    publishers: publishers.use(),
    reservations,
    topics: topics.use(),
    subscribers,
    readPem,
    log,
  }),
  bind: (): Bound => ({ opened: null, subscribable: null }),
  call: () => new LastPublication<KafkaAcknowledgement>(),
  close: ({ publishers, topics }) => {
    publishers.close();
    topics.close();
  },
  functions: {
    host_kafka_open: {
      signature: ':i',
      parameters: '() -> 0',
      meaning:
        'in `init`: opens the brokers that the whole config describes, with the properties of `stream-publish`; unusable settings reject the config',
      declared: true,
      make:
        (call, { loaded, bound }) =>
        () => {
          onlyIn(call, 'init', 'host_kafka_open');
          const { config, name } = call.binding;
          const settings = readKafkaSettings(config.whole, loaded.readPem);
          const publisher = loaded.publishers.open(settings.connection, (level, message) =>
            loaded.log(level, name, message),
          );
          bound().opened ??= { publisher, settings };
          return 0;
        },
    },
    host_kafka_publish: {
      signature: 'iiiiii:i',
      parameters: '(topic, len, key, key_len, headers, len) -> result',
      meaning:
        "publishes the request's body to the topic, with a key (none where `key_len` is -1) and `name: value` lines as headers of the message, and waits until all in-sync replicas have it: results as those of `host_nats_publish`",
      waits: true,
      declared: true,
      body: 'request_body',
      make:
        (call, { loaded, bound, state }) =>
        (topic, topicLength, key, keyLength, headers, headersLength) => {
          const opened = openedInInit(bound().opened, 'host_kafka_publish', 'host_kafka_open');
          const { publisher, settings } = opened;
          const to = topicOf(call.memory.text(topic, topicLength));
          const by = keyLength === -1 ? null : call.memory.text(key, keyLength);
          const fields = headersOf(call, headers, headersLength);
          const { idempotency, timeoutMs } = settings;
          return published(call, state, timeoutMs, () => {
            const exchange = call.request();
            const payload = payloadOf(exchange);
            return publishMessage(exchange, publisher, loaded.reservations, {
              parts: { destination: [to, by], headers: fields, payload },
              idempotency,
              timeoutMs,
              holdSeconds: HOLD_SECONDS,
              message: () => ({ topic: to, key: by, payload, headers: fields }),
            });
          });
        },
    },
    host_kafka_subscribe_open: {
      signature: ':i',
      parameters: '() -> 0',
      meaning:
        'in `init`: opens what the whole config describes for subscribing, with the properties of `stream-subscribe`; unusable settings reject the config',
      declared: true,
      make:
        (call, { loaded, bound }) =>
        () => {
          onlyIn(call, 'init', 'host_kafka_subscribe_open');
          const { whole } = call.binding.config;
          bound().subscribable ??= {
            brokers: readKafkaBrokers(whole, loaded.readPem),
            settings: readSubscriptionSettings(whole),
            config: JSON.stringify(whole),
          };
          return 0;
        },
    },
    host_kafka_subscribe: {
      signature: 'iiii:i',
      parameters: '(topic, len, key, key_len) -> result',
      meaning:
        'hands the request off to a stream of the messages of a topic, of those with the key alone where `key_len` is not -1, from where its `Last-Event-ID` says: 0 the host streams, and `dispatch` returns 2; -1 no connection or refused, -2 no answer in `timeout`, -3 the circuit breaker is open, -4 as many clients as may stream it do, -5 the `Last-Event-ID` is not one of the topic (the reason is in the log)',
      waits: true,
      declared: true,
      make:
        (call, { loaded, bound, state }) =>
        (topic, topicLength, key, keyLength) => {
          const subscribable = openedInInit(bound().subscribable, 'host_kafka_subscribe', 'host_kafka_subscribe_open');
          const { brokers, settings, config } = subscribable;
          const name = topicOf(call.memory.text(topic, topicLength));
          const wanted = keyLength === -1 ? null : Buffer.from(call.memory.text(key, keyLength));
          const plugin = call.binding.name;
          const log = (level: 'info' | 'error', message: string) => loaded.log(level, plugin, message);
          return subscribed(call, state, settings.timeoutMs, () =>
            loaded.subscribers.open(call.request(), {
              topic: loaded.topics.open(brokers, name, log),
              settings,
              config,
              key: wanted,
              plugin,
            }),
          );
        },
    },
    kafka_partition: {
      signature: ':i',
      parameters: '() -> partition',
      meaning: 'after `host_kafka_publish` returned 0: where the message is',
      make:
        (_, { state }) =>
        () =>
          acknowledgedOf(state).partition,
    },
    kafka_offset: {
      signature: ':d',
      parameters: '() -> offset',
      meaning: 'its offset in that partition (f64); -1 if the brokers do not say',
      make:
        (_, { state }) =>
        () =>
          acknowledgedOf(state).offset,
    },
    kafka_retry_after: {
      signature: ':i',
      parameters: '() -> seconds',
      meaning: 'after `host_kafka_publish` or `host_kafka_subscribe` returned -3 or -4: when it may be tried again',
      make:
        (_, { state }) =>
        () =>
          state.retryAfter,
    },
  },
});

function acknowledgedOf({ acknowledged }: LastPublication<KafkaAcknowledgement>): KafkaAcknowledgement {
  if (acknowledged === null) throw new HostCallError('no message is published: call host_kafka_publish first');
  return acknowledged;
}

/** Names of topics that brokers accept. */
const TOPIC = /^(?!\.\.?$)[a-zA-Z0-9._-]{1,249}$/;

function topicOf(text: string): string {
  if (!TOPIC.test(text)) throw new HostCallError(`"${text.slice(0, 100)}" is not a name of a topic`);
  return text;
}
