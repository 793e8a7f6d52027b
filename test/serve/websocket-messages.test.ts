/** WebSockets whose messages an AsyncAPI document describes: others end them, in both directions. */
import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { compileSpec, type Gateway, startGateway } from './gateway.ts';
import { sample } from './web-socket-project.ts';
import {
  closed,
  frame,
  handshake,
  leaveAll,
  message,
  opened,
  RawClient,
  startEcho,
  type WebSocketUpstream,
} from './web-sockets.ts';

const json = (properties: object, required: string[]) => ({
  contentType: 'application/json',
  payload: { type: 'object', properties, required, additionalProperties: false },
});

/** Clients say `{say}` and get `{said}`; `validate`: x-gw-validate-response. */
function document(url: string) {
  const channel = (name: string) => ({
    address: `${name}/{room}`,
    parameters: { room: {} },
    messages: {
      say: json({ say: { type: 'string', maxLength: 5 } }, ['say']),
      move: json({ x: { type: 'integer' } }, ['x']),
      said: json({ said: { type: 'string' } }, ['said']),
    },
  });
  const ref = (name: string, message: string) => ({ $ref: `#/channels/${name}/messages/${message}` });
  const operations = (name: string, validate?: string, most = 1000) => ({
    [`${name}Say`]: {
      action: 'send',
      channel: { $ref: `#/channels/${name}` },
      messages: [ref(name, 'say'), ref(name, 'move')],
    },
    [`${name}Hear`]: {
      action: 'receive',
      channel: { $ref: `#/channels/${name}` },
      messages: [ref(name, 'said')],
      'x-gw-dispatch': { name: 'ws-upstream', config: { url, max_message_size: most } },
      ...(validate ? { 'x-gw-validate-response': validate } : {}),
    },
  });
  return {
    asyncapi: '3.0.0',
    info: { title: 'Rooms', version: '1' },
    channels: {
      rooms: channel('rooms'),
      strict: channel('strict'),
      watched: channel('watched'),
      large: channel('large'),
    },
    operations: {
      ...operations('rooms'),
      ...operations('strict', 'enforce'),
      ...operations('watched', 'log'),
      ...operations('large', undefined, 1 << 20),
    },
  };
}

let upstream: WebSocketUpstream;
let gw: Gateway;
beforeAll(async () => {
  upstream = await startEcho({ perMessageDeflate: true });
  gw = await startGateway(await compileSpec(document(upstream.url), ['ws-upstream']));
});
afterEach(leaveAll);
afterAll(async () => {
  expect(await gw?.stop()).toBe(0);
  await upstream?.close();
});

const SAY = JSON.stringify({ say: 'hello' });

describe('a message of a client', () => {
  it('passes as it came where it is one of those that are described', async () => {
    const socket = await opened(`${gw.url}/rooms/7`);
    for (const text of [SAY, JSON.stringify({ x: 1 })]) {
      const answer = message(socket);
      socket.send(text);
      expect(String(await answer)).toBe(text);
    }
    const binary = message(socket);
    socket.send(Buffer.from(SAY));
    expect(String(await binary)).toBe(SAY);
    expect(socket.extensions).toBe('');
    socket.close(1000);
    expect((await closed(socket)).code).toBe(1000);
  });

  it.each([
    ['has another type', JSON.stringify({ say: 1 }), 1008, 'the message at /say: must be string'],
    [
      'is too long',
      JSON.stringify({ say: 'hello!' }),
      1008,
      'the message at /say: must NOT have more than 5 characters',
    ],
    ['is no JSON', '{', 1008, 'the message: is not valid JSON in UTF-8'],
    ['is empty', '', 1008, 'the message: is not valid JSON in UTF-8'],
    ['has a member twice', '{"say":"a","say":"b"}', 1008, 'the message: an object has a member twice'],
    ['is no text', Buffer.from([0xff, 0xfe]), 1007, 'the message: is not UTF-8 text'],
  ])('that %s ends the WebSocket, and does not reach the upstream', async (_, text, code, reason) => {
    const socket = await opened(`${gw.url}/rooms/7`);
    const received: string[] = [];
    const peer = upstream.latest();
    peer.on('message', (data) => received.push(String(data)));
    const end = closed(socket);
    const told = closed(peer);
    socket.send(SAY);
    socket.send(text);
    socket.send(SAY);
    expect((await end).code).toBe(code);
    expect((await end).reason.slice(0, 20)).toBe(reason.slice(0, 20));
    expect(await told).toEqual({ code: 1001, reason: 'a message of the client was refused' });
    expect(received).toEqual([SAY]);
    const line = await gw.logged(({ close_code: found, close_reason: why }) => found === code && why === reason);
    expect(line).toMatchObject({ closed_by: 'gateway' });
  });

  it('is held until all of its frames are there, while control frames pass', async () => {
    const client = new RawClient(gw.url, handshake('/rooms/7'));
    await client.until(({ text }) => text.includes('101 Switching'));
    client.socket.write(frame('{"say":', { fin: false }));
    client.socket.write(frame('?', { opcode: 9 }));
    // The upstream answers the ping, and has nothing of the message.
    await client.until(({ frames }) => frames.equals(frame('?', { opcode: 10, masked: false })));
    client.socket.write(frame('"hi"}', { opcode: 0 }));
    await client.until(({ text }) => text.includes('{"say":"hi"}'));
  });

  it('that is larger than may be held ends it with 1009 before it is there', async () => {
    const client = new RawClient(gw.url, handshake('/rooms/7'));
    client.socket.write(frame('x'.repeat(900), { fin: false }));
    client.socket.write(frame('x'.repeat(200), { opcode: 0 }).subarray(0, 20));
    await client.until(({ frames }) => frames.includes(Buffer.from([0x03, 0xf1])));
  });

  it('that is in frames without end and nearly without payload ends it with 1008, and takes no memory', async () => {
    const residentMiB = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${gw.pid}/status`, 'utf8'))?.[1]) / 1024;
    const resident = residentMiB();
    const client = new RawClient(gw.url, handshake('/large/7'));
    client.socket.write(frame('{', { fin: false }));
    client.socket.write(Buffer.concat(Array(500_000).fill(frame('', { opcode: 0, fin: false }))));
    await client.until(({ frames }) => frames.includes(Buffer.from([0x03, 0xf0])));
    expect(residentMiB() - resident).toBeLessThan(60);
  });

  it('that is tiny is checked in its turn: thousands of one client let others have theirs', async () => {
    const other = await opened(`${gw.url}/rooms/7`);
    const client = new RawClient(gw.url, handshake('/large/7'));
    client.socket.write(Buffer.concat(Array(100_000).fill(frame('{"x":1}', {}))));
    await client.until(({ text }) => text.includes('{"x":1}'));
    const answer = message(other);
    other.send(SAY);
    expect(String(await answer)).toBe(SAY);
    await client.until(({ bytes }) => bytes > 100_000 * 9);
  });

  it('that is long keeps its place before those that follow it, however long it is validated', async () => {
    // White space, so that it is long and says no more than the others.
    const long = `{"x":${' '.repeat(300_000)}1}`;
    const socket = await opened(`${gw.url}/large/7`);
    const received: string[] = [];
    const all = new Promise<void>((resolve) => {
      upstream.latest().on('message', (data) => {
        received.push(String(data));
        if (received.length === 6) resolve();
      });
    });
    const sent = [SAY, long, '{"x":2}', long, '{"x":3}', '{"x":4}'];
    for (const each of sent) socket.send(each);
    await all;
    expect(received.map((each) => each.length)).toEqual(sent.map((each) => each.length));
    expect(received).toEqual(sent);
  });

  it('that is long and refused ends it, and nothing behind it reaches the upstream', async () => {
    const socket = await opened(`${gw.url}/large/7`);
    const received: string[] = [];
    upstream.latest().on('message', (data) => received.push(String(data)));
    const end = closed(socket);
    const told = closed(upstream.latest());
    for (const each of [SAY, `{"x":${' '.repeat(300_000)}"1"}`, SAY, SAY]) socket.send(each);
    expect((await end).code).toBe(1008);
    await told;
    expect(received).toEqual([SAY]);
  });

  it('that is refused is counted', async () => {
    const metric = 'gw_validation_failures_total{method="GET",path="/rooms/{room}",reason="message"}';
    const before = await sample(gw, metric);
    const socket = await opened(`${gw.url}/rooms/7`);
    socket.send('{}');
    await closed(socket);
    expect(await sample(gw, metric)).toBe(before + 1);
  });
});

describe('a message of the upstream', () => {
  const SAID = JSON.stringify({ said: 'hello' });

  it('passes whatever it is where responses are not validated', async () => {
    const socket = await opened(`${gw.url}/rooms/7`);
    const answer = message(socket);
    upstream.latest().send('anything');
    expect(String(await answer)).toBe('anything');
  });

  it('ends the WebSocket where it is none of those that are described, and the operation says "enforce"', async () => {
    const socket = await opened(`${gw.url}/strict/7`);
    const peer = upstream.latest();
    const first = message(socket);
    peer.send(SAID);
    expect(String(await first)).toBe(SAID);
    const [end, told] = [closed(socket), closed(peer)];
    peer.send(JSON.stringify({ said: 1 }));
    expect(await end).toEqual({ code: 1011, reason: 'a message of the upstream was refused' });
    expect(await told).toEqual({ code: 1008, reason: 'the message at /said: must be string' });
    await gw.logged(({ msg, withheld }) => msg.startsWith('the response does not match') && withheld === true);
  });

  it('is reported, and passes, where it says "log"', async () => {
    const socket = await opened(`${gw.url}/watched/7`);
    const answer = message(socket);
    upstream.latest().send('{"said":1}');
    expect(String(await answer)).toBe('{"said":1}');
    await gw.logged(({ msg, withheld }) => msg.startsWith('the response does not match') && withheld === false);
  });
});
