/** Strangers at the door of `gw-control serve`: sockets on which no request is under way, of another address than a client's. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { get } from 'node:http';
import { get as getTls } from 'node:https';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { makeCertificate, OPENSSL } from '../serve/http.ts';
import { type ControlServer, startControl } from './server.ts';

const STRANGER = '127.0.0.2';
/** As http/idle-sockets.ts has it. */
const MAX_IDLE = 2_000;
const AT_ONCE = 250;

const FLOODS = [
  ['say nothing', false, ''],
  ['never end a TLS handshake', true, '\x16\x03\x01\x02\x00'],
  ['never end a head', false, 'GET /health HTTP/1.1\r\nHost: c\r\n'],
  ['asked once and stay', false, 'GET /health HTTP/1.1\r\nHost: c\r\n\r\n'],
] as const;

describe.skipIf(process.platform !== 'linux' || !OPENSSL)('2,500 sockets of one address (Linux, openssl)', () => {
  const dir = mkdtempSync(join(tmpdir(), 'gw-idle-'));
  const servers = new Map<boolean, ControlServer>();
  let sockets: Socket[] = [];

  beforeAll(async () => {
    const { cert, key } = makeCertificate(dir, 'idle');
    servers.set(false, await startControl({ args: ['--admin-bind', 'off'] }));
    servers.set(true, await startControl({ args: ['--admin-bind', 'off', '--tls-cert', cert, '--tls-key', key] }));
  });
  afterEach(() => {
    for (const socket of sockets) socket.destroy();
    sockets = [];
  });
  afterAll(async () => {
    for (const server of servers.values()) await server.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  async function open(url: string, text: string): Promise<void> {
    const { hostname: host, port } = new URL(url);
    const socket = connect({ host, port: Number(port), localAddress: STRANGER });
    sockets.push(socket);
    socket.on('error', () => {});
    socket.resume();
    await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
    socket.write(text);
    if (text.endsWith('\r\n\r\n')) await Promise.race([once(socket, 'data'), once(socket, 'close')]);
  }

  it.each(FLOODS)('that %s keep no client of another address out', async (_what, tls, text) => {
    const url = (servers.get(tls)?.url ?? '').replace('http:', tls ? 'https:' : 'http:');
    for (let n = 0; n < 2_500; n += AT_ONCE) await Promise.all(Array.from({ length: AT_ONCE }, () => open(url, text)));
    const left = () => sockets.filter(({ closed }) => !closed).length;
    // An agent of the test's own may hold one.
    await eventually(() => expect(left()).toBeLessThanOrEqual(MAX_IDLE));
    expect(left()).toBeGreaterThan(MAX_IDLE - 5);
    const statuses = await Promise.all(Array.from({ length: 50 }, () => health(url)));
    expect(statuses).toEqual(statuses.map(() => 200));
  });
});

function health(url: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const secure = url.startsWith('https:');
    const options = { agent: false, rejectUnauthorized: false } as const;
    const request = (secure ? getTls : get)(`${url}/health`, options, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    request.once('error', reject);
  });
}
