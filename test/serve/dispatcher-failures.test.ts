/**
 * What each dispatcher answers where its peer fails, as docs/reference/plugins.md#dispatchers says, and how long it took
 * (printed): a row for each fault, with nothing left behind.
 */
import { once } from 'node:events';
import { request as send } from 'node:http';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compile } from '../../gateway/src/compiler/index.ts';
import { loadBuiltinPlugin } from '../../gateway/src/plugins/builtin.ts';
import { eventually } from '../eventually.ts';
import { freePort } from '../free-port.ts';
import { MisbehavingPeer } from '../misbehaving-peer.ts';
import { type Gateway, startGateway } from './gateway.ts';
import { scrape } from './scrape.ts';

/** Seconds after which a dispatcher gives up; those that publish try to connect for five before it is a failure. */
const TIMEOUT = 2;
const PUBLISH_TIMEOUT = 6;
const MIB = 1 << 20;
const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n';

/** What a peer does with a connection. */
const PEERS = {
  'hangs before it says anything': () => {},
  'closes at once': (socket: Socket) => socket.end(),
  'speaks another protocol': (socket: Socket) => socket.write('SSH-2.0-OpenSSH_9.2\r\n\r\n'),
  'sends zeros without end': (socket: Socket) => flood(socket, Buffer.alloc(MIB)),
  'sends text without end': (socket: Socket) => flood(socket, Buffer.alloc(MIB, 'x')),
  'hangs in the middle of a head': (socket: Socket) => socket.once('data', () => socket.write('HTTP/1.1 200 O')),
  'sends a head of 2 MiB': (socket: Socket) =>
    socket.once('data', () => socket.end(`${HEAD}x-large: ${'x'.repeat(2 * MIB)}\r\n\r\n`)),
  'closes in the middle of a head': (socket: Socket) => socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nx')),
  'closes in the middle of a body': (socket: Socket) => socket.once('data', () => socket.end(`${HEAD}\r\n{"half`)),
  'announces a frame of 2 GiB': (socket: Socket) => socket.once('data', () => socket.write('\x7f\xff\xff\xff\0\0\0\0')),
} satisfies Readonly<Record<string, (socket: Socket) => unknown>>;
type Fault = keyof typeof PEERS | 'is not there' | 'may not be reached';

function flood(socket: Socket, piece: Buffer): void {
  const more = () => {
    while (!socket.destroyed && socket.write(piece));
  };
  socket.on('drain', more);
  more();
}

/** `cut`: the head had gone to the client when it failed. */
type Answer = '502 upstream-failed' | '503 upstream-unavailable' | '504 upstream-timeout' | '200 cut';

const DISPATCHERS = {
  'http-upstream': (peer: string) => ({ url: `http://${peer}`, timeout: TIMEOUT }),
  'function-url': (peer: string) => ({ url: `http://${peer}`, timeout: TIMEOUT }),
  'object-store': (peer: string) => ({
    endpoint: `http://${peer}`,
    bucket: 'books',
    region: 'r',
    access_key_id: 'id',
    secret_access_key: 'env://SECRET',
    timeout: TIMEOUT,
  }),
  'ws-upstream': (peer: string) => ({ url: `ws://${peer}`, connect_timeout: TIMEOUT }),
  'stream-publish': (peer: string) => ({ brokers: peer, topic: 't', timeout: PUBLISH_TIMEOUT }),
  'subject-publish': (peer: string) => ({ url: `nats://${peer}`, subject: 's', timeout: PUBLISH_TIMEOUT }),
};
type Dispatcher = keyof typeof DISPATCHERS;
const NAMES = Object.keys(DISPATCHERS) as Dispatcher[];
const isPublisher = (name: Dispatcher) => name.endsWith('-publish');

const HTTP = ['http-upstream', 'function-url', 'object-store', 'ws-upstream'] as const;
const all = (answer: Answer, names: readonly Dispatcher[] = NAMES): { readonly [name in Dispatcher]?: Answer } =>
  Object.fromEntries(names.map((name) => [name, answer]));

const ROWS: { readonly [fault in Fault]: { readonly [name in Dispatcher]?: Answer } } = {
  'is not there': all('502 upstream-failed'),
  'may not be reached': all('502 upstream-failed'),
  'hangs before it says anything': all('504 upstream-timeout'),
  'closes at once': all('502 upstream-failed'),
  'speaks another protocol': all('502 upstream-failed'),
  'sends zeros without end': all('502 upstream-failed'),
  'sends text without end': all('502 upstream-failed'),
  'hangs in the middle of a head': all('504 upstream-timeout', HTTP),
  'sends a head of 2 MiB': all('502 upstream-failed', HTTP),
  'closes in the middle of a head': all('502 upstream-failed', HTTP),
  'closes in the middle of a body': {
    'http-upstream': '200 cut',
    'object-store': '200 cut',
    'function-url': '502 upstream-failed',
    'ws-upstream': '200 cut',
  },
  'announces a frame of 2 GiB': all('502 upstream-failed', ['stream-publish']),
};
const CASES = Object.entries(ROWS).flatMap(([fault, row]) =>
  Object.entries(row).map(([name, answer]) => [name as Dispatcher, fault as Fault, answer] as const),
);

const pathOf = (name: Dispatcher, fault: Fault) => `/${name}/${fault.replaceAll(' ', '-')}`;

const misbehaving: MisbehavingPeer[] = [];
const took: string[] = [];
let gw: Gateway;

async function artifact(peers: ReadonlyMap<Fault, string>): Promise<Uint8Array> {
  const dispatch = (name: Dispatcher, fault: Fault) => ({
    'x-gw-dispatch': { name, config: DISPATCHERS[name](peers.get(fault) ?? '') },
  });
  const of = (publishes: boolean) => CASES.filter(([name]) => isPublisher(name) === publishes);
  const responses = { default: { description: 'any' } };
  const http = {
    openapi: '3.1.0',
    info: { title: 'Requests', version: '1' },
    paths: Object.fromEntries(
      of(false).map(([name, fault]) => {
        const stored = name === 'object-store';
        const key = { name: 'key', in: 'path', required: true, schema: { type: 'string' } };
        const get = { responses, ...dispatch(name, fault), ...(stored ? { parameters: [key] } : {}) };
        return [pathOf(name, fault) + (stored ? '/{key}' : ''), { get }];
      }),
    ),
  };
  const idOf = (name: Dispatcher, fault: Fault) => pathOf(name, fault).replaceAll('/', '_');
  const events = {
    asyncapi: '3.0.0',
    info: { title: 'Messages', version: '1' },
    channels: Object.fromEntries(
      of(true).map(([name, fault]) => [idOf(name, fault), { address: pathOf(name, fault), messages: { any: {} } }]),
    ),
    operations: Object.fromEntries(
      of(true).map(([name, fault]) => [
        idOf(name, fault),
        { action: 'send', channel: { $ref: `#/channels/${idOf(name, fault)}` }, ...dispatch(name, fault) },
      ]),
    ),
  };
  const file = (name: string, value: object) => ({ name, bytes: Buffer.from(JSON.stringify(value)) });
  const result = await compile({
    specs: ['requests.json', 'messages.json'],
    files: [file('requests.json', http), file('messages.json', events)],
    plugins: NAMES.map((name) => loadBuiltinPlugin(name)),
    flags: { allowPlaintext: true, sourceDateEpoch: 0 },
  });
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics, null, 2));
  return result.artifact;
}

/** Status and kind of the answer; what it took stands in the table that is printed. */
async function ask(name: Dispatcher, fault: Fault): Promise<string> {
  const from = performance.now();
  const handshake = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' };
  const key = { 'sec-websocket-key': Buffer.alloc(16).toString('base64') };
  const url = `${gw.url}${pathOf(name, fault)}${name === 'object-store' ? '/k' : ''}`;
  const request = send(url, {
    method: isPublisher(name) ? 'POST' : 'GET',
    headers: isPublisher(name)
      ? { 'content-type': 'application/json' }
      : name === 'ws-upstream'
        ? { ...handshake, ...key }
        : {},
  });
  request.end(isPublisher(name) ? '{}' : undefined);
  const [response] = await once(request, 'response');
  let text = '';
  response.on('data', (chunk: Buffer) => {
    text += chunk;
  });
  const whole = await once(response, 'end').then(
    () => true,
    () => false,
  );
  const kind = whole ? String(JSON.parse(text).type).replace('urn:gw:error:', '') : 'cut';
  const answer = `${response.statusCode} ${kind}`;
  took.push(`${name.padEnd(16)} ${fault.padEnd(31)} ${answer.padEnd(24)} ${(performance.now() - from).toFixed(0)} ms`);
  return answer;
}

beforeAll(async () => {
  const peers = new Map<Fault, string>([
    ['is not there', `127.0.0.1:${await freePort()}`],
    ['may not be reached', '127.0.0.2:9'],
  ]);
  for (const [fault, misbehave] of Object.entries(PEERS)) {
    const peer = await MisbehavingPeer.start(misbehave);
    misbehaving.push(peer);
    peers.set(fault as Fault, peer.address);
  }
  gw = await startGateway(await artifact(peers), { env: { SECRET: 'a-secret-of-the-store' } });
});
afterAll(async () => {
  process.stdout.write(`${took.join('\n')}\n`);
  await gw?.stop();
  for (const peer of misbehaving) peer.close();
});

describe('a dispatcher whose peer', () => {
  it.concurrent.each(CASES.map(([name, fault, answer]) => [fault, name, answer] as const))(
    '%s: %s answers with %s',
    async (fault, name, answer) => {
      expect(await ask(name, fault)).toBe(answer);
    },
  );

  it.each(NAMES)('fails five times in a row: %s asks no more for a while', async (name) => {
    await Promise.all(Array.from({ length: 5 }, () => ask(name, 'is not there')));
    expect(await ask(name, 'is not there')).toBe('503 upstream-unavailable');
  });

  it('costs nothing that stays: no connection, no plugin instance, no call that waits', async () => {
    await eventually(async () => {
      const metrics = await scrape(gw.admin);
      expect(misbehaving.flatMap(({ sockets }) => [...sockets])).toEqual([]);
      expect(metrics.value('gw_plugin_instances_busy')).toBe(0);
      expect(metrics.value('gw_plugin_queue')).toBe(0);
    });
    expect(JSON.stringify(gw.log)).not.toContain('a-secret-of-the-store');
  });
});
