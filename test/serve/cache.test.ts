/** The `cache` plugin through real `gw serve` processes: what is stored, for whom, and what is never stored (RFC 9111). */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { compileSpec, type Gateway, startGateway } from './gateway.ts';
import { startUpstream, type Upstream } from './upstream.ts';

const { REDIS_URL } = process.env;

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** What the upstream answers, by path; each test that needs its own has a path of its own. */
const answers = new Map<string, Answer>();
let upstream: Upstream;
let made = 0;
beforeAll(async () => {
  upstream = await startUpstream((request, response) => {
    const path = new URL(request.url ?? '/', 'http://upstream').pathname;
    const answer = answers.get(path);
    if (answer) return answer(request, response);
    response.end(`${request.method} ${request.url} ${++made}`);
  });
});
afterAll(() => upstream.close());
beforeEach(() => {
  upstream.seen.length = 0;
});

const responses = { default: { description: 'any' } };

interface Use {
  readonly config?: object;
  readonly before?: readonly object[];
  readonly after?: readonly object[];
  readonly operation?: object;
}

/** An operation that is cached before its upstream. */
function cached({ config = {}, before = [], after = [], operation = {} }: Use = {}) {
  return {
    responses,
    'x-gw-middlewares': [...before, { name: 'cache', config }, ...after],
    'x-gw-dispatch': { name: 'http-upstream', config: { url: upstream.url } },
    ...operation,
  };
}

const PLUGINS = [
  'http-upstream',
  'mock',
  'cache',
  'apikey-auth',
  'basic-auth',
  'rate-limit',
  'cors',
  'response-transformer',
];

function artifact(paths: object): Promise<Uint8Array> {
  const securitySchemes = {
    key: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
    basic: { type: 'http', scheme: 'basic' },
  };
  const info = { title: 'Cached', version: '1' };
  return compileSpec({ openapi: '3.1.0', info, paths, components: { securitySchemes } }, PLUGINS);
}

const headed =
  (headers: Record<string, string>, status = 200): Answer =>
  (_request, response) => {
    response.writeHead(status, headers);
    response.end(`body ${++made}`);
  };

/** Of a path item. */
const named = { parameters: [{ name: 'name', in: 'path', required: true, schema: { type: 'string' } }] };

const seenAt = (path: string) => upstream.seen.filter(({ url }) => url.split('?')[0] === path);

describe('cache, through gw serve', () => {
  let gw: Gateway;
  const get = async (path: string, headers: Record<string, string> = {}, method = 'GET') => {
    const response = await fetch(gw.url + path, { headers, method });
    return { status: response.status, headers: response.headers, body: await response.text() };
  };

  beforeAll(async () => {
    gw = await startGateway(
      await artifact({
        '/plain/{name}': { ...named, get: cached(), post: cached(), put: cached() },
      }),
    );
  });
  afterAll(async () => {
    await gw?.stop();
  });

  it('answers the second request from what it stored of the first, with Age and Cache-Status', async () => {
    answers.set('/plain/a', headed({ 'cache-control': 'max-age=60', 'x-kind': 'book' }));
    const first = await get('/plain/a');
    const second = await get('/plain/a');
    expect(second.body).toBe(first.body);
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(first.headers.get('cache-status')).toBe('gw;fwd=uri-miss;stored');
    expect(second.headers.get('cache-status')).toMatch(/^gw;hit;ttl=(59|60)$/);
    expect(second.headers.get('age')).toMatch(/^[01]$/);
    expect(second.headers.get('x-kind')).toBe('book');
    expect(seenAt('/plain/a')).toHaveLength(1);
  });
});
