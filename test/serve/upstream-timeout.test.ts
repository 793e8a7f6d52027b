/** How exactly `timeout` of an upstream holds, as callers of `gw serve` see it (docs/decisions.md#timeouts-exact). */
import { createServer, request as httpRequest, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileSpec, type Gateway, startGateway } from './gateway.ts';

/** Timers that tick twice a second let at least this much pass, whatever the timeout is. */
const COARSE_MS = 450;
const TIMEOUT_S = 0.1;

function document(url: string) {
  const dispatch = { name: 'http-upstream', config: { url, timeout: TIMEOUT_S } };
  const operation = { responses: {}, 'x-gw-dispatch': dispatch };
  const paths = { '/late': { get: operation }, '/silent': { get: operation }, '/stops': { get: operation } };
  return {
    openapi: '3.1.0',
    info: { title: 'Timeouts', version: '1' },
    paths: { ...paths, '/upload': { put: { ...operation, requestBody: { content: { '*/*': {} } } } } },
  };
}

describe('timeout of an upstream', () => {
  let server: Server;
  let gw: Gateway;
  let uploads: () => void = () => {};
  beforeAll(async () => {
    const answers: Record<string, (response: ServerResponse) => void> = {
      '/late': (response) => void setTimeout(() => response.end('late'), COARSE_MS),
      '/silent': () => {},
      '/stops': (response) => {
        response.write('one');
        setTimeout(() => response.end('two'), COARSE_MS);
      },
    };
    server = createServer((request, response) => {
      request.once('data', () => uploads());
      request.on('data', () => {}).on('error', () => {});
      if (request.method === 'PUT') request.on('end', () => response.end('whole'));
      else answers[request.url ?? '']?.(response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    gw = await startGateway(await compileSpec(document(`http://127.0.0.1:${port}`), ['http-upstream']));
  });
  afterAll(async () => {
    await gw?.stop();
    server?.closeAllConnections();
    server?.close();
  });

  it('ends before an upstream answers that takes four times as long', async () => {
    expect((await fetch(`${gw.url}/late`)).status).toBe(504);
  });

  it('cuts off an answer that stops for four times as long', async () => {
    await expect(fetch(`${gw.url}/stops`).then((response) => response.text())).rejects.toThrow();
  });

  it('does not run while the client has yet to send', async () => {
    const begun = new Promise<void>((resolve) => {
      uploads = resolve;
    });
    const upload = httpRequest(`${gw.url}/upload`, { method: 'PUT' });
    const status = new Promise((resolve, reject) => {
      upload.on('response', (response) => resolve(response.resume().statusCode)).on('error', reject);
    });
    upload.write('first');
    await begun;
    // It began later, and has run out.
    expect((await fetch(`${gw.url}/silent`)).status).toBe(504);
    upload.end('last');
    expect(await status).toBe(200);
  });
});
