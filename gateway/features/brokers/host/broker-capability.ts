/**
 * The capability of a kind of broker: publishes the request's body as a message (`host_<kind>_open`,
 * `host_<kind>_publish`), and streams a topic's messages as events (`host_<kind>_subscribe_open`,
 * `host_<kind>_subscribe`).
 */

import {
  type Call,
  type Capability,
  capability,
  type EgressGuard,
  HostCallError,
  InFlight,
  InitSlot,
  type JsonObject,
  OPENER,
  type ReadPem,
} from '../../kit.ts';
import type { IdempotencySettings, MessageParts, OnceKey } from './publishing/idempotency.ts';
import { type Broker, Publisher } from './publishing/publisher.ts';
import { Publishers } from './publishing/publishers.ts';
import { headersOf, LastPublication, payloadOf, published, publishMessage } from './publishing/publishing-call.ts';
import { DROPPED_MESSAGES, OPEN_STREAMS, STREAMS, Subscribers } from './subscribing/subscribers.ts';
import { subscribed } from './subscribing/subscribing-call.ts';
import { readSubscriptionSettings, type SubscriptionSettings } from './subscribing/subscription-settings.ts';
import type { TopicSource } from './subscribing/topic-source.ts';
import { Topics } from './subscribing/topics.ts';

/** Settings for publishing. */
interface PublishSettings {
  /** Settings of the connection: publishers with equal ones share it. */
  readonly connection: unknown;
  readonly idempotency: IdempotencySettings | null;
  readonly timeoutMs: number;
}

/** Name of the topic, and the key of the messages where the kind has keys (null: none). */
export type Destination = readonly [topic: string, ...key: (string | null)[]];

interface DestinedParts extends MessageParts {
  readonly destination: Destination;
}

/** Connections of the process, opened for publishers and topics. */
interface Connections<Connection, Source, Message, Acknowledgement> {
  broker(connection: Connection): Broker<Message, Acknowledgement>;
  topic(source: Source, name: string): TopicSource;
}

interface AcknowledgementReader<Acknowledgement> {
  readonly signature: string;
  readonly parameters: string;
  readonly meaning: string;
  read(acknowledged: Acknowledgement): number;
}

/** Facts about a kind of broker. `Source`: settings for reading topics. */
interface BrokerKind<Settings extends PublishSettings, Source, Message, Acknowledgement> {
  /** Word in the names of its functions and metrics. */
  readonly name: string;
  /** Documentation of its functions for authors of plugins, in Markdown. */
  readonly meanings: Readonly<Record<'open' | 'publish' | 'subscribeOpen' | 'subscribe', string>>;
  /** The parameters that name a destination, which stand before all others. */
  readonly destination: { readonly signature: string; readonly parameters: string };
  /** Reads these parameters for publishing. Throws HostCallError if they are malformed. */
  publishTo(call: Call, ...destination: number[]): Destination;
  /** The same for subscribing. */
  subscribeTo(call: Call, ...destination: number[]): Destination;
  /** Throws if the config cannot be used. */
  readSettings(config: JsonObject, readPem: ReadPem): Settings;
  /** Throws as `readSettings`. */
  readSource(config: JsonObject, readPem: ReadPem): Source;
  connections(guard: EgressGuard): Connections<Settings['connection'], Source, Message, Acknowledgement>;
  message(parts: DestinedParts, settings: Settings, once: OnceKey | null): Message;
  /** Seconds after which the outcome of a message is known, at the latest. */
  holdSeconds(settings: Settings): number;
  /** Functions that read a number of the last message's acknowledgement. */
  readonly readers?: Readonly<Record<string, AcknowledgementReader<Acknowledgement>>>;
}

/** A topic to read, and the settings of its clients. */
interface Subscribable<Source> {
  readonly source: Source;
  readonly settings: SubscriptionSettings;
  /** Identifies the config whose clients are counted together. */
  readonly config: string;
}

export function brokerCapability<Settings extends PublishSettings, Source, Message, Acknowledgement>(
  kind: BrokerKind<Settings, Source, Message, Acknowledgement>,
): Capability {
  const { name, meanings, destination } = kind;
  const [ended, open, dropped] = [
    `gw_${name}_streams_total`,
    `gw_${name}_streams`,
    `gw_${name}_messages_dropped_total`,
  ] as const;
  return capability({
    metrics: { [ended]: STREAMS, [open]: OPEN_STREAMS, [dropped]: DROPPED_MESSAGES },
    open: ({ guard, state, counter, sampled }) => {
      const inFlight = new InFlight();
      const connections = kind.connections(guard);
      const publishers = new Publishers<Settings['connection'], Message, Acknowledgement>(
        (connection, log) => new Publisher(connections.broker(connection), inFlight.share(), log),
      );
      const topics = new Topics<Source>((source, topic) => connections.topic(source, topic));
      const subscribers = new Subscribers({
        streams: counter(ended, STREAMS),
        dropped: counter(dropped, DROPPED_MESSAGES),
      });
      sampled(open, OPEN_STREAMS, () => [{ labels: {}, value: subscribers.count }]);
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
    bind: () => ({
      publishing: new InitSlot<{ publisher: Publisher<Message, Acknowledgement>; settings: Settings }>(
        `host_${name}_open`,
      ),
      subscribing: new InitSlot<Subscribable<Source>>(`host_${name}_subscribe_open`),
    }),
    call: () => new LastPublication<Acknowledgement>(),
    close: ({ publishers, topics }) => {
      publishers.close();
      topics.close();
    },
    functions: {
      [`host_${name}_open`]: {
        ...OPENER,
        meaning: meanings.open,
        make:
          (call, { loaded, bound }) =>
          () =>
            bound().publishing.open(call, ({ config, name: plugin }) => {
              const settings = kind.readSettings(config.whole, loaded.readPem);
              const publisher = loaded.publishers.open(settings.connection, (level, message) =>
                loaded.log(level, plugin, message),
              );
              return { publisher, settings };
            }),
      },
      [`host_${name}_publish`]: {
        signature: `${destination.signature}ii:i`,
        parameters: `(${destination.parameters}, headers, len) -> result`,
        meaning: meanings.publish,
        waits: true,
        declared: true,
        body: 'request_body',
        make:
          (call, { loaded, bound, state }) =>
          (...args) => {
            const { publisher, settings } = bound().publishing.get(`host_${name}_publish`);
            const to = kind.publishTo(call, ...args);
            const [pointer = 0, length = 0] = args.slice(destination.signature.length);
            const headers = headersOf(call, pointer, length);
            const { idempotency, timeoutMs } = settings;
            return published(call, state, timeoutMs, () => {
              const exchange = call.request();
              const parts = { destination: to, headers, payload: payloadOf(exchange) };
              return publishMessage(exchange, publisher, loaded.reservations, {
                parts,
                idempotency,
                timeoutMs,
                holdSeconds: kind.holdSeconds(settings),
                message: (once) => kind.message(parts, settings, once),
              });
            });
          },
      },
      [`host_${name}_subscribe_open`]: {
        ...OPENER,
        meaning: meanings.subscribeOpen,
        make:
          (call, { loaded, bound }) =>
          () =>
            bound().subscribing.open(call, ({ config: { whole } }) => ({
              source: kind.readSource(whole, loaded.readPem),
              settings: readSubscriptionSettings(whole),
              config: JSON.stringify(whole),
            })),
      },
      [`host_${name}_subscribe`]: {
        signature: `${destination.signature}:i`,
        parameters: `(${destination.parameters}) -> result`,
        meaning: meanings.subscribe,
        waits: true,
        declared: true,
        make:
          (call, { loaded, bound, state }) =>
          (...args) => {
            const { source, settings, config } = bound().subscribing.get(`host_${name}_subscribe`);
            const [topic, key = null] = kind.subscribeTo(call, ...args);
            const plugin = call.binding.name;
            return subscribed(call, state, settings.timeoutMs, () =>
              loaded.subscribers.open(call.request(), {
                topic: loaded.topics.open(source, topic, (level, message) => loaded.log(level, plugin, message)),
                settings,
                config,
                key: key === null ? null : Buffer.from(key),
                plugin,
              }),
            );
          },
      },
      ...Object.fromEntries(
        Object.entries(kind.readers ?? {}).map(([reader, { read, ...row }]) => [
          reader,
          {
            ...row,
            make:
              (_: Call, { state }: { readonly state: LastPublication<Acknowledgement> }) =>
              () => {
                if (state.acknowledged !== null) return read(state.acknowledged);
                throw new HostCallError(`no message is published: call host_${name}_publish first`);
              },
          },
        ]),
      ),
      [`${name}_retry_after`]: {
        signature: ':i',
        parameters: '() -> seconds',
        meaning: `after \`host_${name}_publish\` or \`host_${name}_subscribe\` returned -3 or -4: when it may be tried again`,
        make:
          (_, { state }) =>
          () =>
            state.retryAfter,
      },
    },
  });
}
