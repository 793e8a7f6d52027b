/**
 * `host_nats_open` and `host_nats_publish`: the request's body as a message to a subject of NATS;
 * `host_nats_subscribe_open` and `host_nats_subscribe`: a subject's messages as a stream of events.
 */

import { type EgressGuard, HostCallError } from '../../../kit.ts';
import { brokerCapability } from '../broker-capability.ts';
import { KeptConnection } from '../publishing/kept-connection.ts';
import type { Broker } from '../publishing/publisher.ts';
import type { NatsConnection, NatsMessage } from './nats-connection.ts';
import { NatsLinks } from './nats-link.ts';
import { type NatsServers, type NatsSettings, readNatsServers, readNatsSettings } from './nats-settings.ts';
import { STREAM_USES, type SubjectSettings, SubjectSource } from './subject-source.ts';

/** For the acknowledgement that comes last, and the state. */
const HOLD_MARGIN_SECONDS = 10;

export const nats = brokerCapability<NatsSettings, SubjectSettings, NatsMessage, NatsAcknowledgement>({
  name: 'nats',
  meanings: {
    open: 'in `init`: opens the servers that the whole config describes, with the properties of `subject-publish`; unusable settings reject the config',
    publish:
      "publishes the request's body to the subject, with `name: value` lines as headers of the message, and waits for its acknowledgement: 0 it is there, 1 an earlier request with its `Idempotency-Key` has published it, -1 no connection or refused, -2 no acknowledgement in `timeout`, -3 the circuit breaker is open, -4 too many messages wait, -5 larger than the server accepts; of the `Idempotency-Key`: -6 its message is on its way, -7 it is another message's, -8 the state is unavailable, -9 it is missing or malformed (the reason is in the log)",
    subscribeOpen:
      'in `init`: opens what the whole config describes for subscribing, with the properties of `subject-subscribe`; unusable settings reject the config',
    subscribe:
      'hands the request off to a stream of the messages of a subject, which may have wildcards, from where its `Last-Event-ID` says: results as those of `host_kafka_subscribe`',
  },
  destination: { signature: 'ii', parameters: 'subject, len' },
  publishTo: ({ memory }, subject, length) => [subjectOf(memory.text(subject, length))],
  subscribeTo: ({ memory }, subject, length) => [patternOf(memory.text(subject, length))],
  readSettings: readNatsSettings,
  readSource: (config, readPem) => {
    const stream = STREAM_USES.find((each) => each === config['stream']) ?? 'auto';
    return { servers: readNatsServers(config, readPem), stream };
  },
  connections: (guard) => {
    const links = new NatsLinks(guard);
    return {
      broker: (servers) => new NatsBroker(servers, guard),
      topic: (settings, subject) => new SubjectSource(settings, subject, links),
    };
  },
  message: ({ destination: [subject], payload, headers }, { acknowledgement }, once) => ({
    subject,
    payload,
    headers,
    acknowledgement,
    id: once?.key ?? null,
  }),
  holdSeconds: ({ timeoutMs }) => timeoutMs / 1000 + HOLD_MARGIN_SECONDS,
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

/** An acknowledgement only confirms that the message has arrived. */
type NatsAcknowledgement = { readonly acknowledged: true };
const ACKNOWLEDGED: NatsAcknowledgement = { acknowledged: true };

class NatsBroker implements Broker<NatsMessage, NatsAcknowledgement> {
  readonly name: string;
  readonly #connection: KeptConnection<NatsConnection>;

  constructor(servers: NatsServers, guard: EgressGuard) {
    this.name = `nats://${servers.servers.join(',')}`;
    const library = import('./nats-connection.ts');
    this.#connection = new KeptConnection(async () => {
      const { NatsConnection } = await library;
      return NatsConnection.open(servers, guard, this.name);
    });
  }

  async send(message: NatsMessage, timeoutMs: number): Promise<NatsAcknowledgement> {
    const connection = await this.#connection.get(timeoutMs);
    await connection.publish(message, timeoutMs);
    return ACKNOWLEDGED;
  }

  close(): void {
    this.#connection.close();
  }
}
