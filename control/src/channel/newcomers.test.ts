/** Strangers at the channel: real sockets of several addresses, on a host's side in memory. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { eventually } from '../../../test/eventually.ts';
import { hello, Peer, textFrame, UPGRADE } from '../../../test/serve/link-peer.ts';
import { KEY, LinkServer, PROJECT } from '../../../test/serve/link-server.ts';
import type { ChannelOptions } from './ports.ts';

const STRANGER = '127.0.0.2';
/** Sockets that a stranger opens at once. */
const AT_ONCE = 200;

describe.skipIf(process.platform !== 'linux')('strangers at the channel', () => {
  let host: LinkServer;
  let sockets: Socket[] = [];
  const start = async (options: ChannelOptions = {}) => {
    host = await LinkServer.start({ heartbeatMs: 60_000, ...options });
  };
  afterEach(async () => {
    vi.useRealTimers();
    for (const socket of sockets) socket.destroy();
    sockets = [];
    await host.kill();
  });

  /** A WebSocket that says nothing, once it is open. */
  async function silent(localAddress: string): Promise<Socket> {
    const { hostname, port } = new URL(host.url);
    const socket = connect({ port: Number(port), host: hostname, localAddress });
    sockets.push(socket);
    socket.on('error', () => {});
    socket.write(UPGRADE);
    await Promise.race([once(socket, 'data'), once(socket, 'close')]);
    return socket;
  }

  async function flood(count: number, localAddress: string): Promise<void> {
    for (let left = count; left > 0; left -= AT_ONCE) {
      await Promise.all(Array.from({ length: Math.min(AT_ONCE, left) }, () => silent(localAddress)));
    }
  }

  /** As many data planes, each of which connects once. */
  async function fleet(count: number, localAddress: string): Promise<number> {
    const peers = Array.from({ length: count }, async (_, i) => {
      const peer = new Peer(host.url, localAddress);
      await peer.say(hello({ instance_id: `i-${i}` })).catch(() => {});
      return Promise.race([peer.until('welcome').then(() => 1), peer.closed.then(() => 0)]);
    });
    return (await Promise.all(peers)).reduce<number>((sum, each) => sum + each, 0);
  }

  it('that say no hello on 10,000 sockets keep none of 1,000 data planes of another address out', async () => {
    await start();
    await flood(4_000, STRANGER);
    const [connected] = await Promise.all([fleet(1_000, '127.0.0.1'), flood(6_000, STRANGER)]);
    expect(connected).toBe(1_000);
    expect(host.channel.counts()).toMatchObject({ connected: 1_000, pending: 2_000 });
  });

  it('that say no hello keep none out that share their address', async () => {
    await start({ maxSilent: 500 });
    await flood(500, STRANGER);
    const [connected] = await Promise.all([fleet(100, STRANGER), flood(1_000, STRANGER)]);
    expect(connected).toBe(100);
    expect(host.channel.counts()).toMatchObject({ connected: 100, pending: 500 });
  });

  it('yield by address, and the oldest first', async () => {
    await start({ maxSilent: 3 });
    const [a, b, c] = [await silent('127.0.0.3'), await silent(STRANGER), await silent(STRANGER)];
    const late = new Peer(host.url);
    expect(await once(b, 'close')).toEqual([false]);
    await late.say(hello());
    await late.until('welcome');
    expect([a.destroyed, c.destroyed]).toEqual([false, false]);
    expect(host.channel.counts().closedTotal).toEqual({ 'too-many': 1 });
  });

  it('that were refused and do not go hold what silent ones hold, until the clock has moved', async () => {
    vi.useFakeTimers({ toFake: ['performance', 'setInterval'] });
    await start({ maxSilent: 2 });
    const refused = await Promise.all([1, 2].map(() => silent(STRANGER)));
    for (const socket of refused) socket.write(textFrame('{'));
    await eventually(() => expect(refused.map(({ bytesRead }) => bytesRead > 200)).toEqual([true, true]));
    const next = new Peer(host.url);
    await once(refused[0] as Socket, 'close');
    await next.say(hello());
    await next.until('welcome');
    expect(refused[1]?.destroyed).toBe(false);
    vi.advanceTimersByTime(6_000);
    await once(refused[1] as Socket, 'close');
    expect(host.channel.counts()).toMatchObject({ connected: 1, pending: 0 });
  });

  it('that begin a hello of 100 MB are read no further, and go when the clock has moved', async () => {
    vi.useFakeTimers({ toFake: ['performance', 'setInterval'] });
    await start();
    const socket = await silent(STRANGER);
    const head = Buffer.from([0x81, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4]);
    head.writeUInt32BE(100 << 20, 6);
    socket.write(head);
    let sent = 0;
    const piece = Buffer.alloc(1 << 20);
    // As long as someone reads.
    while (sent < 100 && socket.write(piece)) sent++;
    socket.on('drain', () => {
      if (sent++ < 100) socket.write(piece);
    });
    await eventually(() => expect(host.channel.counts().pending).toBe(1));
    vi.advanceTimersByTime(6_000);
    await once(socket, 'close');
    expect(sent).toBeLessThan(50);
    await eventually(() => expect(host.channel.counts().closedTotal).toEqual({ malformed: 1 }));
  });

  it('that guess keys wait for each other, and others do not wait for them', async () => {
    await start({ maxAdmissions: 4 });
    const known = new Peer(host.url, STRANGER);
    await known.say(hello({ instance_id: 'known' }));
    await known.until('welcome');
    const asked: string[] = [];
    const answers: (() => void)[] = [];
    const { authenticate } = LinkServer.prototype;
    host.authenticate = async (message) => {
      asked.push(message.api_key === KEY ? message.instance_id : 'guess');
      if (message.api_key !== KEY) await new Promise<void>((resolve) => answers.push(resolve));
      return authenticate.call(host, message);
    };
    const guesses = await Promise.all(Array.from({ length: 100 }, () => silent(STRANGER)));
    for (const [i, socket] of guesses.entries())
      socket.write(textFrame(JSON.stringify(hello({ api_key: `guess-${i}` }))));
    await eventually(() => expect(asked).toEqual(Array.from({ length: 4 }, () => 'guess')));
    const peers = [new Peer(host.url, '127.0.0.1'), new Peer(host.url, STRANGER)];
    for (const [i, peer] of peers.entries()) await peer.say(hello({ instance_id: `real-${i}` }));
    // One answer at each look, until both are in.
    await eventually(() => {
      answers.shift()?.();
      expect(peers.map(({ heard }) => heard.at(-1)?.['type'])).toEqual(['welcome', 'welcome']);
    });
    expect(asked.filter((each) => each === 'guess').length).toBeLessThan(20);
    host.authenticate = authenticate.bind(host);
    for (const answer of answers) answer();
  });

  it('of one project leave places to the others', async () => {
    await start({ maxConnections: 4 });
    host.authenticate = async (message) => ({
      dataPlaneId: message.instance_id,
      projectId: message.project_id,
      keyId: message.api_key,
    });
    const greet = async (project_id: string, n: number) => {
      const peer = new Peer(host.url);
      await peer.say(hello({ project_id, instance_id: `${project_id.slice(0, 1)}-${n}` }));
      await Promise.race([peer.until('welcome'), peer.closed]);
      return peer;
    };
    const many = [];
    for (let n = 0; n < 4; n++) many.push(await greet(PROJECT, n));
    const fifth = await greet(PROJECT, 5);
    expect(await fifth.closed).toBe(4429);
    const other = await greet('00000000-0000-4000-8000-000000000000', 1);
    await other.until('welcome');
    expect(await many[3]?.closed).toBe(4429);
    expect(host.channel.counts().connected).toBe(4);
  });
});
