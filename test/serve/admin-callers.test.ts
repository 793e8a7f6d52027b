/** Who the admin port of `gw serve` answers: programs, and no pages in browsers. */
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileSpec, type Gateway, startGateway } from './gateway.ts';
import { startUpstream, type Upstream } from './upstream.ts';

const TRACE = JSON.stringify({ target: '/a' });
const JSON_TYPE = { 'content-type': 'application/json' };

describe('callers of the admin port', () => {
  let upstream: Upstream;
  let gw: Gateway;
  beforeAll(async () => {
    upstream = await startUpstream();
    const proxy = { name: 'http-upstream', config: { url: upstream.url } };
    const document = {
      openapi: '3.1.0',
      info: { title: 'Admin', version: '1' },
      paths: { '/a': { get: { responses: {}, 'x-gw-dispatch': proxy } } },
    };
    gw = await startGateway(await compileSpec(document, ['http-upstream']), {
      args: ['--admin-hosts', 'gw.internal', '--admin-hosts', 'Other.Internal'],
    });
  });
  afterAll(async () => {
    await gw?.stop();
    await upstream?.close();
  });

  /** Status and problem of a request with headers as they stand. `AUTHORITY` is the port's own address. */
  function ask(method: string, path: string, headers: Readonly<Record<string, string | string[]>>, body?: string) {
    const authority = new URL(gw.admin).host;
    const own = Object.entries(headers).map(([name, value]) => {
      return [name, typeof value === 'string' ? value.replace('AUTHORITY', authority) : value];
    });
    return new Promise<{ status: number; text: string }>((resolve, reject) => {
      const asked = request(gw.admin + path, { method, headers: Object.fromEntries(own) }, (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk) => {
          text += chunk;
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      });
      asked.on('error', reject);
      asked.end(body);
    });
  }

  it.each([
    ['text, as pages send it anywhere', { 'content-type': 'text/plain' }, 415],
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }, 415],
    ['no type', {}, 415],
    ['two types', { 'content-type': ['application/json', 'text/plain'] }, 400],
    ['a page of another origin', { ...JSON_TYPE, origin: 'https://evil.example' }, 403],
    ['a page of another port', { ...JSON_TYPE, origin: 'http://127.0.0.1:1' }, 403],
    ['a page without an origin of its own', { ...JSON_TYPE, origin: 'null' }, 403],
    [
      'another name for the address',
      { ...JSON_TYPE, host: 'evil.example:8081', origin: 'http://evil.example:8081' },
      403,
    ],
    ['another name, without Origin', { ...JSON_TYPE, host: 'evil.example' }, 403],
    ['a name that begins like one', { ...JSON_TYPE, host: 'localhost.evil.example' }, 403],
    ['a number for an address', { ...JSON_TYPE, host: '2130706433' }, 403],
  ] as const)('do nothing with %s', async (_, headers, status) => {
    const before = upstream.seen.length;
    const copied = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, typeof value === 'string' ? value : [...value]]),
    );
    expect((await ask('POST', '/trace', copied, TRACE)).status).toBe(status);
    expect((await ask('PUT', '/log-level', copied, '{"level":"trace"}')).status).toBe(status);
    expect(upstream.seen.length).toBe(before);
    expect(JSON.parse((await ask('GET', '/log-level', {})).text)).toMatchObject({ level: 'info' });
  });

  it.each([
    ['by its address', {}],
    ['by another address', { host: '10.1.2.3:8081' }],
    ['by an address of IPv6', { host: '[fd00::1]:8081' }],
    ['by localhost', { host: 'localhost:8081' }],
    ['by a name of --admin-hosts', { host: 'gw.internal' }],
    ['by another one, in any case and with the dot of the root', { host: 'OTHER.internal.:80' }],
    ['from its own origin', { origin: 'http://AUTHORITY' }],
    // What the API server's proxy of pods makes of kubectl's request: the Host that it was asked by, and who asked.
    [
      'through the API server, whatever that is called',
      {
        host: 'a1b2c3.gr7.eu-west-1.eks.example:6443',
        'sec-gw-admin': '1',
        'user-agent': 'gw-operator',
        'x-forwarded-for': '203.0.113.7',
        'x-forwarded-uri': '/api/v1/namespaces/shop/pods/gw-0:8081/proxy/trace',
      },
    ],
  ])('are answered %s', async (_, headers) => {
    const before = upstream.seen.length;
    const traced = await ask('POST', '/trace', { ...JSON_TYPE, ...headers }, TRACE);
    expect([traced.status, upstream.seen.length]).toEqual([200, before + 1]);
    const type = { 'content-type': 'application/json; charset=utf-8' };
    expect((await ask('PUT', '/log-level', { ...type, ...headers }, '{"level":"info"}')).status).toBe(200);
    expect((await ask('GET', '/provenance', headers)).status).toBe(200);
  });

  it('are told nothing by another name, and what to do', async () => {
    for (const path of ['/provenance', '/log-level', '/nothing']) {
      const refused = await ask('GET', path, { host: 'evil.example:8081' });
      expect(refused.status).toBe(403);
      expect(refused.text).toContain('--admin-hosts');
    }
  });

  it.each(['/health', '/ready', '/metrics'])('get %s by any name, as probes and scrapers do', async (path) => {
    for (const host of ['gateway.shop.svc.cluster.local:8081', 'evil.example', '10.1.2.3:8081']) {
      expect((await ask('GET', path, { host })).status).toBe(200);
    }
  });
});
