/** Connections that the gateway keeps to an upstream, which may close them at any moment. */
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { MisbehavingPeer } from '../misbehaving-peer.ts';
import { compileSpec, type Gateway, startGateway } from './gateway.ts';

const KEPT = 4;
const answer = (text: string) => `HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\n\r\n${text}`;

describe('connections to an upstream that closes them at the next request', () => {
  let upstream: MisbehavingPeer;
  let gw: Gateway;
  /** Requests that wait for each other, so that each has a connection. */
  let waiting: Socket[] = [];
  let connections = 0;

  beforeAll(async () => {
    upstream = await MisbehavingPeer.start((socket) => {
      const number = ++connections;
      let requests = 0;
      socket.on('data', (head) => {
        if (++requests > 1) return void socket.destroy();
        if (!String(head).includes('/together')) return void socket.write(answer(`${number}`));
        if (waiting.push(socket) < KEPT) return;
        for (const each of waiting) each.write(answer('together'));
        waiting = [];
      });
    });
    const dispatch = { name: 'http-upstream', config: { url: `http://${upstream.address}` } };
    const operation = { responses: {}, 'x-gw-dispatch': dispatch };
    const post = { ...operation, requestBody: { content: { '*/*': {} } } };
    const document = {
      openapi: '3.1.0',
      info: { title: 'Kept', version: '1' },
      paths: { '/a': { get: operation, post }, '/together': { get: operation } },
    };
    gw = await startGateway(await compileSpec(document, ['http-upstream']));
  });
  afterAll(async () => {
    await gw?.stop();
    upstream?.close();
  });

  /** Has the gateway keep some. */
  async function keep(): Promise<void> {
    const answers = await Promise.all(Array.from({ length: KEPT }, () => fetch(`${gw.url}/together`)));
    for (const each of answers) expect(await each.text()).toBe('together');
    await eventually(() => expect(upstream.sockets.size).toBe(KEPT));
  }

  it('are replaced by a new one, whichever others are kept', async () => {
    await keep();
    const before = connections;
    const response = await fetch(`${gw.url}/a`);
    expect([response.status, await response.text()]).toEqual([200, `${before + 1}`]);
    upstream.cut();
  });

  it('fail a request that has sent a body', async () => {
    await eventually(() => expect(upstream.sockets.size).toBe(0));
    await keep();
    const response = await fetch(`${gw.url}/a`, { method: 'POST', body: 'once' });
    expect(response.status).toBe(502);
    expect(await response.json()).toMatchObject({ type: 'urn:gw:error:upstream-failed' });
    upstream.cut();
  });
});
