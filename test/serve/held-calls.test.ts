/** Answers of HTTP calls of plugins count in the budget of held responses while the plugin's call has them. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { compileSpec, withGateway } from './gateway.ts';

/** Of one answer; what is parsed out of it counts three times as much again. */
const BYTES = 2 << 20;

let functions: Server;
let artifact: Uint8Array;
beforeAll(async () => {
  const answer = JSON.stringify({ statusCode: 200, body: 'x'.repeat(BYTES) });
  functions = createServer((_, response) => response.end(answer)).listen(0, '127.0.0.1');
  await once(functions, 'listening');
  const url = `http://127.0.0.1:${(functions.address() as AddressInfo).port}`;
  const dispatch = { name: 'function-url', config: { url } };
  const get = { responses: { 200: { description: 'OK' } }, 'x-gw-dispatch': dispatch };
  const info = { title: 'Functions', version: '1' };
  artifact = await compileSpec({ openapi: '3.1.0', info, paths: { '/f': { get } } }, ['function-url']);
});
afterAll(() => {
  functions.closeAllConnections();
  functions.close();
});

it.each([
  ['refused where they and what is parsed out of them have no room', 3, 503],
  ['let go when they have been answered with, so that there is room for the next', 5, 200],
])('are %s', async (_, answers, status) => {
  await withGateway(artifact, ['--max-held-response-bytes', String(answers * BYTES)], async (gw) => {
    for (let i = 0; i < 4; i++) {
      const response = await fetch(`${gw.url}/f`);
      await response.arrayBuffer();
      expect(response.status).toBe(status);
    }
  });
});
