/** `host_nats_open` and `host_nats_publish`: the request's body as a message to a subject of NATS. */

import { capability } from '../../capability/capability.ts';
import { HostCallError } from '../../wasm/call/host-call-error.ts';
import { InFlight } from '../publishing/in-flight.ts';
import { publishMessage } from '../publishing/publish-message.ts';
import { Publisher } from '../publishing/publisher.ts';
import { Publishers } from '../publishing/publishers.ts';
import { headersOf, LastPublication, payloadOf, published } from '../publishing/publishing-call.ts';
import { type NatsAcknowledgement, NatsBroker, type NatsMessage } from './nats-broker.ts';
import { type NatsServers, type NatsSettings, readNatsSettings } from './nats-settings.ts';

interface Opened {
  publisher: Publisher<NatsMessage, NatsAcknowledgement>;
  settings: NatsSettings;
}

/** For the acknowledgement that comes last, and the state. */
const HOLD_MARGIN_SECONDS = 10;

/** What `init` has opened. */
interface Bound {
  opened: Opened | null;
}

export const nats = capability({
  open: ({ guard, state }) => {
    const inFlight = new InFlight();
    const publishers = new Publishers<NatsServers, NatsMessage, NatsAcknowledgement>(
      (servers, log) => new Publisher(new NatsBroker(servers, guard), inFlight.share(), log),
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
  call: () => new LastPublication<NatsAcknowledgement>(),
  close: ({ publishers }) => publishers.close(),
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
          if (call.hook !== 'init') throw new HostCallError('host_nats_open is for init');
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
          const { opened } = bound();
          if (opened === null) throw new HostCallError('host_nats_publish: call host_nats_open in init');
          const { publisher, settings } = opened;
          const { acknowledgement, idempotency, timeoutMs } = settings;
          const to = subjectOf(call.memory.text(subject, subjectLength));
          const fields = headersOf(call, headers, headersLength);
          return published(call, state, timeoutMs, () => {
            const x = call.request();
            const payload = payloadOf(x);
            return publishMessage(x, publisher, loaded.reservations, {
              parts: { destination: [to], headers: fields, payload },
              idempotency,
              timeoutMs,
              holdSeconds: timeoutMs / 1000 + HOLD_MARGIN_SECONDS,
              message: (once) => ({ subject: to, payload, headers: fields, acknowledgement, id: once?.key ?? null }),
            });
          });
        },
    },
    nats_retry_after: {
      signature: ':i',
      parameters: '() -> seconds',
      meaning: 'after `host_nats_publish` returned -3: when the servers are tried again',
      make:
        (_, { state }) =>
        () =>
          state.retryAfter,
    },
  },
});

/** One that can be published to: tokens between dots, none empty, without wildcards and white space. */
const SUBJECT = /^[^\s.*>]+(\.[^\s.*>]+)*$/;

function subjectOf(text: string): string {
  if (text.length > 512 || !SUBJECT.test(text))
    throw new HostCallError(`"${text.slice(0, 100)}" is no subject to publish to`);
  return text;
}
