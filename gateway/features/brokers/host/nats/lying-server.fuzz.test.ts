/** A connection to a server of NATS whose lines are nearly right: whatever comes, only this connection fails. */
import type { Socket } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { MisbehavingPeer, publishedTo } from '../../../../../test/misbehaving-peer.ts';
import { mutated } from '../../../../../test/mutations.ts';
import { propertyRuns } from '../../../../../test/property-runs.ts';
import { EgressGuard } from '../../../../src/egress/guard.ts';
import { NatsConnection } from './nats-connection.ts';
import type { NatsServers } from './nats-settings.ts';

const INFO =
  'INFO {"server_id":"s","version":"2.10.0","proto":1,"headers":true,"max_payload":1048576,"jetstream":false}\r\n';
const PONG = 'PONG\r\n';
/** What a server sends besides (docs.nats.io/reference/reference-protocols/nats-protocol). */
const OTHERS = [
  '+OK\r\n',
  'PING\r\n',
  '-ERR \'Permissions Violation for Publish to "s"\'\r\n',
  "-ERR 'Authorization Violation'\r\n",
  'MSG _INBOX.a 1 5\r\nhello\r\n',
  'HMSG _INBOX.a 1 22 27\r\nNATS/1.0 503\r\nA: b\r\n\r\n\r\nhello\r\n',
  INFO,
];

/** What one connection gets: in place of the greeting, and of the answer to the first ping. */
interface Lie {
  readonly greeting: Buffer;
  readonly answer: Buffer;
}
const HONEST: Lie = { greeting: Buffer.from(INFO), answer: Buffer.from(PONG) };

let peer: MisbehavingPeer;
let lie = HONEST;

function serve(socket: Socket): void {
  let answer: Buffer | null = lie.answer;
  socket.write(lie.greeting);
  socket.on('data', (chunk: Buffer) => {
    for (const _ of chunk.toString('latin1').matchAll(/^PING\r\n/gm)) {
      socket.write(answer ?? PONG);
      answer = null;
    }
  });
}

beforeAll(async () => {
  peer = await MisbehavingPeer.start(serve);
});
afterAll(() => peer?.close());

const guard = new EgressGuard({ allowInternal: false, allow: ['127.0.0.1'] });
const MESSAGE = { subject: 's', payload: Buffer.from('{}'), headers: [], acknowledgement: 'none', id: null } as const;

async function publish() {
  const servers: NatsServers = {
    servers: [peer.address],
    credentials: { kind: 'none' },
    tls: null,
    allowPlaintext: true,
  };
  const opened = NatsConnection.open(servers, guard, 'nats').then((connection) => ({
    publish: (message: typeof MESSAGE) => connection.publish(message, 200),
    close: () => connection.close(),
  }));
  return publishedTo(peer, opened, MESSAGE);
}

it('has its message stored by an honest one', async () => {
  lie = HONEST;
  expect(await publish()).toBe('stored');
});

it('survives lines that are nearly right', async () => {
  const outcomes = new Map<string, number>();
  const tokens = ['\r\n', ' ', '-1', '99999999999', 'MSG ', 'HMSG ', '\0', 'NATS/1.0\r\n', '{', '"'];
  const honestly = (text: string) => ({ weight: 2, arbitrary: fc.constant(Buffer.from(text)) });
  const changed = (...texts: string[]) => ({
    weight: 3,
    arbitrary: mutated(
      texts.map((each) => Buffer.from(each)),
      tokens,
    ),
  });
  const greeting = fc.oneof(honestly(INFO), changed(INFO));
  const answer = fc.oneof(honestly(PONG), changed(...OTHERS, ...OTHERS.map((each) => each + PONG)));
  await fc.assert(
    fc.asyncProperty(greeting, answer, async (first, second) => {
      lie = { greeting: first, answer: second };
      const outcome = await publish();
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    }),
    propertyRuns(60),
  );
  process.stdout.write(`${JSON.stringify([...outcomes])}\n`);
  lie = HONEST;
  expect(await publish()).toBe('stored');
});
