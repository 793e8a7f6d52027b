/** Egress as an operator of `gw serve` sees it: what upstreams may be reached, and what redirects lead to. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileSpec, type Gateway, jsonOf, startGateway } from './gateway.ts';
import { startUpstream, type Upstream } from './upstream.ts';

function document(urls: Readonly<Record<string, string>>) {
  const get = (url: string) => ({ responses: {}, 'x-gw-dispatch': { name: 'http-upstream', config: { url } } });
  const paths = Object.fromEntries(Object.entries(urls).map(([name, url]) => [`/${name}`, { get: get(url) }]));
  return { openapi: '3.1.0', info: { title: 'Egress', version: '1' }, paths };
}

// docs/reference/gateway.md#egress, docs/decisions.md#egress-allow
describe('egress', () => {
  let inner: ReturnType<typeof createServer>;
  let upstream: Upstream;
  let gw: Gateway;
  let reached = 0;
  let artifact: Uint8Array;
  beforeAll(async () => {
    // On all addresses of this machine, of which the gateway is allowed 127.0.0.1 alone.
    inner = createServer((_request, response) => {
      reached++;
      response.end('inner');
    });
    await new Promise<void>((resolve) => inner.listen(0, '0.0.0.0', resolve));
    const { port } = inner.address() as AddressInfo;
    upstream = await startUpstream((request, response) => {
      const status = Number(request.url?.slice(-3));
      response.writeHead(status, { location: `http://127.0.0.2:${port}/inner` }).end();
    });
    const forms = {
      named: `http://127.0.0.2:${port}`,
      short: `http://127.2:${port}`,
      number: `http://2130706434:${port}`,
    };
    const redirects = [301, 302, 303, 307, 308].map((status) => [`to-${status}`, upstream.url]);
    const mapped = { mapped: `http://[::ffff:7f00:2]:${port}` };
    artifact = await compileSpec(document({ ...forms, ...mapped, ...Object.fromEntries(redirects) }), [
      'http-upstream',
    ]);
    gw = await startGateway(artifact);
  });
  afterAll(async () => {
    await gw?.stop();
    await upstream?.close();
    inner?.close();
  });

  it.each(['named', 'short', 'number', 'mapped'])(
    'refuses an upstream at another address of this machine: %s',
    async (name) => {
      const response = await fetch(`${gw.url}/${name}`);
      const problem = await jsonOf<{ status: number; detail: string }>(response);
      expect(problem.status).toBe(502);
      expect(problem.detail).toBe('The upstream is not at an address that the gateway may connect to.');
      expect(reached).toBe(0);
    },
  );

  it.each([301, 302, 303, 307, 308])('hands a redirect (%d) on to the client, and never follows it', async (status) => {
    const response = await fetch(`${gw.url}/to-${status}`, { redirect: 'manual' });
    expect(response.status).toBe(status);
    expect(response.headers.get('location')).toContain('127.0.0.2');
    expect(reached).toBe(0);
  });

  it.each([
    ['--egress-allow 127.0.0.0/8', { args: ['--egress-allow', '127.0.0.0/8'] }],
    ['GW_ALLOW_INTERNAL_EGRESS=1', { env: { GW_ALLOW_INTERNAL_EGRESS: '1' } }],
    ['GW_ALLOW_INTERNAL_EGRESS=true', { env: { GW_ALLOW_INTERNAL_EGRESS: 'true' } }],
  ])('%s opens it', async (_name, options) => {
    const open = await startGateway(artifact, options);
    const answers = await Promise.all(
      ['named', 'mapped'].map(async (name) => (await fetch(`${open.url}/${name}`)).text()),
    );
    expect(await open.stop()).toBe(0);
    expect(answers).toEqual(['inner', 'inner']);
    reached = 0;
  });
});
