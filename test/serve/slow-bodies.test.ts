/**
 * Clients that hardly send their bodies, more of them than there are plugin instances: others are served beside them
 * (docs/decisions.md#instances-do-not-wait).
 */
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { fixture } from './fixture-plugin.ts';
import { compileSpec, type Gateway, startGateway } from './gateway.ts';

/** As a gateway has them (DEFAULT_LIMITS of gateway/src/wasm/call/plugin.ts), and some more. */
const SLOW = 2050;
const OTHERS = 50;

const responses = { 200: { description: 'OK' } };
const mock = { name: 'mock', config: { body: 'ok' } };
const requestBody = { content: { 'application/json': { schema: { type: 'object' } } } };
const limited = { name: 'rate-limit', config: { quota: 1_000_000, window: 60, partition_key: 'ip' } };

const document = {
  openapi: '3.1.0',
  info: { title: 'Slow bodies', version: '1' },
  paths: {
    '/known': {
      post: {
        requestBody,
        responses,
        'x-gw-middlewares': [
          { name: 'cel', config: { expression: 'request.body_json.a == 1', on_match: { deny: { status: 403 } } } },
        ],
        'x-gw-dispatch': mock,
      },
    },
    '/lazy': {
      post: {
        requestBody,
        responses,
        'x-gw-middlewares': [{ name: 'body-reverser', config: {} }],
        'x-gw-dispatch': mock,
      },
    },
    '/others': { get: { responses, 'x-gw-middlewares': [limited], 'x-gw-dispatch': mock } },
  },
};

describe('slow bodies', () => {
  let gw: Gateway;
  const sockets: Socket[] = [];
  beforeAll(async () => {
    const plugins = ['cel', 'mock', 'rate-limit'];
    // However long it takes until all of them are there, none is given up for being slow.
    const args = ['--min-body-rate', '0', '--body-timeout', '0'];
    gw = await startGateway(await compileSpec(document, plugins, [fixture('body-reverser')]), { args });
  });
  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    await gw?.stop();
  });

  /** So many requests to that path, of whose bodies one byte has come; what each was answered with, if it was. */
  async function dribble(path: string): Promise<string[]> {
    const answers: string[] = [];
    const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`;
    for (let i = 0; i < SLOW; i++) {
      const socket = connect(Number(new URL(gw.url).port), '127.0.0.1');
      sockets.push(socket);
      socket.on('data', (chunk) => answers.push(String(chunk).slice(0, 12)));
      socket.on('error', () => {});
      await new Promise((resolve) => socket.write(head, resolve));
    }
    await eventually(async () => expect(await inFlight()).toBeGreaterThanOrEqual(SLOW));
    return answers;
  }

  async function inFlight(): Promise<number> {
    const text = await (await fetch(`${gw.admin}/metrics`)).text();
    return Number(/^gw_active_connections\S* (\d+)/m.exec(text)?.[1] ?? 0);
  }

  const askOthers = () =>
    Promise.all(Array.from({ length: OTHERS }, async () => (await fetch(`${gw.url}/others`)).status));

  it.each(['/known', '/lazy'])('for %s keep no instance from others', async (path) => {
    const answers = await dribble(path);
    for (let round = 0; round < 3; round++) expect(new Set(await askOthers())).toEqual(new Set([200]));
    // What was given up for others, by who had more than its share.
    expect(new Set(answers)).toEqual(path === '/lazy' ? new Set(['HTTP/1.1 503']) : new Set());
    expect(answers.length).toBeLessThan(3 * OTHERS + 1);
    for (const socket of sockets.splice(0)) socket.destroy();
    await eventually(async () => expect(await inFlight()).toBeLessThan(SLOW));
  });
});
