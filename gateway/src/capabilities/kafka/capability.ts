/** `host_kafka_open` and `host_kafka_publish`: the request's body as a message to a topic of Kafka. */

import { capability } from '../../capability/capability.ts';
import { HostCallError } from '../../wasm/call/host-call-error.ts';
import { InFlight } from '../publishing/in-flight.ts';
import { publishMessage } from '../publishing/publish-message.ts';
import { Publisher } from '../publishing/publisher.ts';
import { Publishers } from '../publishing/publishers.ts';
import { headersOf, LastPublication, payloadOf, published } from '../publishing/publishing-call.ts';
import { KafkaBroker } from './kafka-broker.ts';
import type { KafkaAcknowledgement, KafkaMessage } from './kafka-message.ts';
import { type KafkaBrokers, type KafkaSettings, readKafkaSettings } from './kafka-settings.ts';

interface Opened {
  publisher: Publisher<KafkaMessage, KafkaAcknowledgement>;
  settings: KafkaSettings;
}

/** Connecting, delivery that is tried for two minutes, and the last attempt. */
const HOLD_SECONDS = 180;

/** What `init` has opened. */
interface Bound {
  opened: Opened | null;
}

export const kafka = capability({
  open: ({ guard, state }) => {
    const inFlight = new InFlight();
    const publishers = new Publishers<KafkaBrokers, KafkaMessage, KafkaAcknowledgement>(
      (brokers, log) => new Publisher(new KafkaBroker(brokers, guard), inFlight.share(), log),
    );
    return { publishers, reservations: state.reservations };
  },
  load: ({ publishers, reservations }, { readPem, log }) => ({
    publishers: publishers.use(),
    reservations,
    readPem,
    log,
  }),
  bind: (): Bound => ({ opened: null }),
  call: () => new LastPublication<KafkaAcknowledgement>(),
  close: ({ publishers }) => publishers.close(),
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
          if (call.hook !== 'init') throw new HostCallError('host_kafka_open is for init');
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
          const { opened } = bound();
          if (opened === null) throw new HostCallError('host_kafka_publish: call host_kafka_open in init');
          const { publisher, settings } = opened;
          const to = topicOf(call.memory.text(topic, topicLength));
          const by = keyLength === -1 ? null : call.memory.text(key, keyLength);
          const fields = headersOf(call, headers, headersLength);
          const { idempotency, timeoutMs } = settings;
          return published(call, state, timeoutMs, () => {
            const x = call.request();
            const payload = payloadOf(x);
            return publishMessage(x, publisher, loaded.reservations, {
              parts: { destination: [to, by], headers: fields, payload },
              idempotency,
              timeoutMs,
              holdSeconds: HOLD_SECONDS,
              message: () => ({ topic: to, key: by, payload, headers: fields }),
            });
          });
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
      meaning: 'after `host_kafka_publish` returned -3: when the brokers are tried again',
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

/** As brokers want it. */
const TOPIC = /^(?!\.\.?$)[a-zA-Z0-9._-]{1,249}$/;

function topicOf(text: string): string {
  if (!TOPIC.test(text)) throw new HostCallError(`"${text.slice(0, 100)}" is no name of a topic`);
  return text;
}
