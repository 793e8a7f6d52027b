/** What comes over the socket of the channel, as bytes: frames that hold, frames that lie, and none at all. */
import { once } from 'node:events';
import { connect } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../../test/eventually.ts';
import { propertyRuns } from '../../../test/property-runs.ts';
import { hello, Peer, requestOf, textFrame, UPGRADE, UPGRADE_LINES } from '../../../test/serve/link-peer.ts';
import { KEY, LinkServer } from '../../../test/serve/link-server.ts';

/** Of RFC 6455, section 5.2, with whatever is said of its length. */
interface Frame {
  readonly first: number;
  readonly masked: boolean;
  readonly mask: Uint8Array;
  readonly payload: Uint8Array;
  /** What it says of its length; null: the truth. */
  readonly length: bigint | null;
}

function bytesOf({ first, masked, mask, payload, length }: Frame): Buffer {
  const said = length ?? BigInt(payload.length);
  const head = Buffer.alloc(14);
  head[0] = first;
  const bit = masked ? 0x80 : 0;
  let size = 2;
  if (said < 126n) head[1] = bit | Number(said);
  else if (said < 65_536n) {
    head[1] = bit | 126;
    size = 4;
    head.writeUInt16BE(Number(said), 2);
  } else {
    head[1] = bit | 127;
    size = 10;
    head.writeBigUInt64BE(said, 2);
  }
  const body = masked ? payload.map((byte, i) => byte ^ (mask[i % 4] ?? 0)) : payload;
  return Buffer.concat([head.subarray(0, size), masked ? mask : Buffer.alloc(0), body]);
}

/** What the server has to say: pongs are what the client has said. */
function withoutPongs(answered: Buffer): Buffer {
  const said: Buffer[] = [];
  for (let at = answered.indexOf('\r\n\r\n') + 4; at + 2 <= answered.length; ) {
    const short = (answered[at + 1] as number) & 0x7f;
    const [head, length] = short === 126 ? [4, answered.readUInt16BE(at + 2)] : [2, short];
    if (answered[at] !== PONG) said.push(answered.subarray(at, at + head + length));
    at += head + length;
  }
  return Buffer.concat(said);
}

const [TEXT, BINARY, CLOSE, PING, PONG] = [0x81, 0x82, 0x88, 0x89, 0x8a];
const messages = fc.oneof(
  fc.constant(hello({ instance_id: 'fuzz' })),
  fc.record({ api_key: fc.constantFrom(KEY, 'no'), instance_id: fc.string() }).map((over) => hello(over)),
  fc.constantFrom(
    { type: 'heartbeat', artifact_hash: null },
    { type: 'status', deployment_id: null, artifact_id: 'a', artifact_hash: null, outcome: 'applied' },
    { type: 'later' },
  ),
  fc.jsonValue({ maxDepth: 3 }),
);
const payload = fc.oneof(
  { weight: 4, arbitrary: messages.map((value) => new Uint8Array(Buffer.from(JSON.stringify(value)))) },
  { weight: 2, arbitrary: fc.uint8Array({ maxLength: 130 }) },
  { weight: 1, arbitrary: fc.constantFrom(0, 125, 126, 16_384, 16_385, 70_000).map((n) => new Uint8Array(n)) },
);
const frame: fc.Arbitrary<Frame> = fc.record({
  first: fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(TEXT, BINARY, CLOSE, PING, PONG, 0x01, 0x00, 0x80) },
    { weight: 1, arbitrary: fc.nat(255) },
  ),
  masked: fc.oneof({ weight: 9, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
  mask: fc.uint8Array({ minLength: 4, maxLength: 4 }),
  payload,
  length: fc.oneof(
    { weight: 8, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }) },
    { weight: 1, arbitrary: fc.nat(200).map(BigInt) },
  ),
});
/** A hello first, more often than chance would have it: what is behind it is another state. */
const conversation = fc.tuple(
  fc.boolean(),
  fc.array(fc.oneof({ weight: 5, arbitrary: frame.map(bytesOf) }, { weight: 1, arbitrary: fc.uint8Array() })),
  fc.array(fc.nat(400), { maxLength: 4 }),
);
const greeting = textFrame(JSON.stringify(hello({ instance_id: 'fuzz' })));

describe('bytes at the channel', () => {
  let host: LinkServer;
  let peer: Peer;
  beforeAll(async () => {
    host = await LinkServer.start({ heartbeatMs: 3_600_000, helloMs: 60_000 });
    peer = new Peer(host.url);
    await peer.say(hello());
    await peer.until('welcome');
  });
  afterAll(() => host.kill());

  /** Sends it, in pieces of these lengths, and says no more: what was answered. */
  async function send(bytes: Buffer, pieces: readonly number[]): Promise<Buffer> {
    const { hostname, port } = new URL(host.url);
    const socket = connect(Number(port), hostname);
    socket.setNoDelay(true);
    const answered: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => answered.push(chunk));
    // Whoever sends on after a close is reset.
    socket.on('error', () => {});
    const closed = once(socket, 'close').catch(() => {});
    let from = 0;
    for (const length of pieces) {
      socket.write(bytes.subarray(from, from + length));
      from += length;
      await new Promise(setImmediate);
    }
    socket.end(bytes.subarray(from));
    await closed;
    return Buffer.concat(answered);
  }

  async function nothingIsLeft(): Promise<void> {
    await eventually(() => expect(host.channel.counts()).toMatchObject({ connected: 1, pending: 0 }));
    expect(host.errors).toEqual([]);
    host.heard.length = 0;
  }

  it('end that socket at most: nothing is left of it, and a data plane beside it hears what is new', async () => {
    let n = 0;
    await fc.assert(
      fc.asyncProperty(conversation, async ([greets, frames, pieces]) => {
        const bytes = Buffer.concat([Buffer.from(UPGRADE), ...(greets ? [greeting] : []), ...frames]);
        const answered = await send(bytes, [UPGRADE.length, ...pieces]);
        expect(answered.toString('latin1')).toMatch(/^HTTP\/1\.1 101 /);
        expect(withoutPongs(answered).includes(KEY)).toBe(false);
        const artifact_id = `a-${++n}`;
        host.want({ ...NOTICE, artifact_id });
        await peer.until('artifact', { artifact_id });
        peer.heard.length = 0;
        await nothingIsLeft();
      }),
      propertyRuns(150),
    );
  });

  it('of an upgrade with a line changed are an answer of HTTP, or none, and leave nothing', async () => {
    const line = fc.oneof(fc.string({ unit: 'binary-ascii' }), fc.constantFrom(...UPGRADE_LINES), fc.constant(''));
    await fc.assert(
      fc.asyncProperty(fc.nat(UPGRADE_LINES.length - 1), line, async (at, other) => {
        const lines = UPGRADE_LINES.with(at, other);
        const answered = await send(Buffer.concat([Buffer.from(requestOf(lines)), greeting]), []);
        expect(answered.toString('latin1')).toMatch(/^(HTTP\/1\.1 \d{3} |$)/);
        await nothingIsLeft();
      }),
      propertyRuns(100),
    );
  });
});

const NOTICE = {
  deployment_id: 'd',
  artifact_id: 'a',
  artifact_hash: `sha256:${'a'.repeat(64)}`,
  sha256: `sha256:${'a'.repeat(64)}`,
  size: 1,
  path: '/artifacts/a',
};
