/**
 * `host_nats_open` and `host_nats_publish`: the request's body as a message to a subject of NATS;
 * `host_nats_subscribe_open` and `host_nats_subscribe`: a subject's messages as a stream of events.
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
import { type NatsAcknowledgement, NatsBroker } from './nats-broker.ts';
import type { NatsMessage } from './nats-connection.ts';
import { NatsLinks } from './nats-link.ts';
import { type NatsServers, type NatsSettings, readNatsServers, readNatsSettings } from './nats-settings.ts';
import { STREAM_USES, type SubjectSettings, SubjectSource } from './subject-source.ts';

interface Opened {
  publisher: Publisher<NatsMessage, NatsAcknowledgement>;
  settings: NatsSettings;
}

/** For the acknowledgement that comes last, and the state. */
const HOLD_MARGIN_SECONDS = 10;

/** The subjects to read, and the settings of their clients. */
interface Subscribable {
  readonly subjects: SubjectSettings;
  readonly settings: SubscriptionSettings;
  /** Identifies the config whose clients are counted together. */
  readonly config: string;
}

/** Objects that `init` has opened. */
interface Bound {
  opened: Opened | null;
  subscribable: Subscribable | null;
}

export const nats = capability({
  metrics: {
    gw_nats_streams_total: STREAMS,
    gw_nats_streams: OPEN_STREAMS,
    gw_nats_messages_dropped_total: DROPPED_MESSAGES,
  },
  open: ({ guard, state, counter, sampled }) => {
    const inFlight = new InFlight();
    const publishers = new Publishers<NatsServers, NatsMessage, NatsAcknowledgement>(
      (servers, log) => new Publisher(new NatsBroker(servers, guard), inFlight.share(), log),
    );
    const links = new NatsLinks(guard);
    const topics = new Topics<SubjectSettings>((settings, subject) => new SubjectSource(settings, subject, links));
    const subscribers = new Subscribers({
      streams: counter('gw_nats_streams_total', STREAMS),
      dropped: counter('gw_nats_messages_dropped_total', DROPPED_MESSAGES),
    });
    sampled('gw_nats_streams', OPEN_STREAMS, () => [{ labels: {}, value: subscribers.count }]);
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
  call: () => new LastPublication<NatsAcknowledgement>(),
  close: ({ publishers, topics }) => {
    publishers.close();
    topics.close();
  },
  functions: {
    host_nats_open: {
      signature: ':i',
      parameters: '() -> 0',
      meaning:
        'in `init`: opens the servers that the whole config describes, with the properties of `subject-publish`; unusable settings reject the config',
      declared: true,
      make:
        (call, { loaded, bound }) =>
        () => {
          onlyIn(call, 'init', 'host_nats_open');
          const { config, name } = call.binding;
          const settings = readNatsSettings(config.whole, loaded.readPem);
          const publisher = loaded.publishers.open(settings.connection, (level, message) =>
            loaded.log(level, name, message),
          );
          bound().opened ??= { publisher, settings };
          return 0;
        },
    },
    host_nats_publish: {
      signature: 'iiii:i',
      parameters: '(subject, len, headers, len) -> result',
      meaning:
        "publishes the request's body to the subject, with `name: value` lines as headers of the message, and waits for its acknowledgement: 0 it is there, 1 an earlier request with its `Idempotency-Key` has published it, -1 no connection or refused, -2 no acknowledgement in `timeout`, -3 the circuit breaker is open, -4 too many messages wait, -5 larger than the server accepts; of the `Idempotency-Key`: -6 its message is on its way, -7 it is another message's, -8 the state is unavailable, -9 it is missing or malformed (the reason is in the log)",
      waits: true,
      declared: true,
      body: 'request_body',
      make:
        (call, { loaded, bound, state }) =>
        (subject, subjectLength, headers, headersLength) => {
          const opened = openedInInit(bound().opened, 'host_nats_publish', 'host_nats_open');
          const { publisher, settings } = opened;
          const { acknowledgement, idempotency, timeoutMs } = settings;
          const to = subjectOf(call.memory.text(subject, subjectLength));
          const fields = headersOf(call, headers, headersLength);
          return published(call, state, timeoutMs, () => {
            const exchange = call.request();
            const payload = payloadOf(exchange);
            return publishMessage(exchange, publisher, loaded.reservations, {
              parts: { destination: [to], headers: fields, payload },
              idempotency,
              timeoutMs,
              holdSeconds: timeoutMs / 1000 + HOLD_MARGIN_SECONDS,
              message: (once) => ({ subject: to, payload, headers: fields, acknowledgement, id: once?.key ?? null }),
            });
          });
        },
    },
    host_nats_subscribe_open: {
      signature: ':i',
      parameters: '() -> 0',
      meaning:
        'in `init`: opens what the whole config describes for subscribing, with the properties of `subject-subscribe`; unusable settings reject the config',
      declared: true,
      make:
        (call, { loaded, bound }) =>
        () => {
          onlyIn(call, 'init', 'host_nats_subscribe_open');
          const { whole } = call.binding.config;
          const stream = STREAM_USES.find((each) => each === whole['stream']) ?? 'auto';
          bound().subscribable ??= {
            subjects: { servers: readNatsServers(whole, loaded.readPem), stream },
            settings: readSubscriptionSettings(whole),
            config: JSON.stringify(whole),
          };
          return 0;
        },
    },
    host_nats_subscribe: {
      signature: 'ii:i',
      parameters: '(subject, len) -> result',
      meaning:
        'hands the request off to a stream of the messages of a subject, which may have wildcards, from where its `Last-Event-ID` says: results as those of `host_kafka_subscribe`',
      waits: true,
      declared: true,
      make:
        (call, { loaded, bound, state }) =>
        (subject, subjectLength) => {
          const subscribable = openedInInit(bound().subscribable, 'host_nats_subscribe', 'host_nats_subscribe_open');
          const { subjects, settings, config } = subscribable;
          const name = patternOf(call.memory.text(subject, subjectLength));
          const plugin = call.binding.name;
          const log = (level: 'info' | 'error', message: string) => loaded.log(level, plugin, message);
          return subscribed(call, state, settings.timeoutMs, () =>
            loaded.subscribers.open(call.request(), {
              topic: loaded.topics.open(subjects, name, log),
              settings,
              config,
              key: null,
              plugin,
            }),
          );
        },
    },
    nats_retry_after: {
      signature: ':i',
      parameters: '() -> seconds',
      meaning: 'after `host_nats_publish` or `host_nats_subscribe` returned -3 or -4: when it may be tried again',
      make:
        (_, { state }) =>
        () =>
          state.retryAfter,
    },
  },
});

/** A subject for publishing: non-empty tokens between dots, without wildcards and white space. */
const SUBJECT = /^[^\s.*>]+(\.[^\s.*>]+)*$/;

function subjectOf(text: string): string {
  if (text.length > 512 || !SUBJECT.test(text))
    throw new HostCallError(`"${text.slice(0, 100)}" is not a subject to publish to`);
  return text;
}

/** One that can be subscribed to: `*` stands for a token, `>` at the end for one or more. */
const PATTERN = /^(?:(?:[^\s.*>]+|\*)\.)*(?:[^\s.*>]+|\*|>)$/;

function patternOf(text: string): string {
  if (text.length > 512 || !PATTERN.test(text))
    throw new HostCallError(`"${text.slice(0, 100)}" is not a subject to subscribe to`);
  return text;
}
