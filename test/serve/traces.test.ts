/** Traces that `gw serve` exports to a real collector (reference 1, section 4.3; --otlp-endpoint, --trace-sampling). */
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileSpec, type Gateway, refusedStart, startGateway } from './gateway.ts';
import { OTLP, OTLP_GRPC, type ReceivedSpan, spansOf, traceOf, tree } from './spans.ts';
import { startUpstream, type Upstream } from './upstream.ts';

const PLUGINS = ['mock', 'http-upstream', 'apikey-auth', 'rate-limit', 'cors'];
const KEY = 'planted-api-key';

function document(upstream: string) {
  const responses = { 200: { description: 'OK' } };
  const proxy = (url = upstream) => ({ name: 'http-upstream', config: { url, timeout: 1 } });
  const body = {
    content: { 'application/json': { schema: { type: 'object', required: ['title'] } } },
  };
  return {
    openapi: '3.1.0',
    info: { title: 'Traced', version: '1' },
    components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-API-Key' } } },
    paths: {
      '/guarded/{id}': {
        post: {
          responses,
          security: [{ key: [] }],
          parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }],
          requestBody: body,
          'x-gw-middlewares': [
            { name: 'cors', config: { allowed_origins: ['*'] } },
            { name: 'apikey-auth', config: { keys: [{ key: KEY, id: 'alpha', name: 'Alpha' }] } },
            { name: 'rate-limit', config: { quota: 100, window: 60 } },
          ],
          'x-gw-dispatch': proxy(),
        },
      },
      '/mock': { get: { responses, 'x-gw-dispatch': { name: 'mock', config: { body: 'ok' } } } },
      '/proxy': { get: { responses, 'x-gw-dispatch': proxy() } },
      ...Object.fromEntries(
        ['/silent', '/broken', '/flaky'].map((path) => [path, { get: { responses, 'x-gw-dispatch': proxy() } }]),
      ),
      '/dead': { get: { responses, 'x-gw-dispatch': proxy('http://127.0.0.1:1') } },
    },
  };
}

const traceparent = (flags: string) => {
  const [traceId, spanId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
  return { traceId, spanId, header: `00-${traceId}-${spanId}-${flags}` };
};

const named = (spans: readonly ReceivedSpan[], name: string) => {
  const found = spans.find((span) => span.name === name);
  if (!found) throw new Error(`no span ${name} among ${spans.map((span) => span.name).join(', ')}`);
  return found;
};

describe('trace context without an endpoint', () => {
  let upstream: Upstream;
  let gw: Gateway;
  beforeAll(async () => {
    upstream = await startUpstream();
    gw = await startGateway(await compileSpec(document(upstream.url), PLUGINS));
  });
  afterAll(async () => {
    await gw?.stop();
    await upstream?.close();
  });

  const sent = async (headers: [string, string][]) => {
    const response = await fetch(`${gw.url}/proxy`, { headers });
    const { traceparent: parent, tracestate: state } = upstream.seen.at(-1)?.headers ?? {};
    return { id: response.headers.get('x-trace-id'), parent, state };
  };

  it('passes a caller on to the upstream as it is, with its tracestate', async () => {
    const { traceId, header } = traceparent('01');
    const state = 'vendor=a%20b,other=1';
    expect(
      await sent([
        ['traceparent', header],
        ['tracestate', state],
      ]),
    ).toEqual({ id: traceId, parent: header, state });
  });

  it('begins no trace that would keep an upstream from sampling', async () => {
    const { id, parent } = await sent([]);
    expect(id).toMatch(/^[0-9a-f]{32}$/);
    expect(parent).toBeUndefined();
  });

  it.each([
    ['a short id', '00-abc-b7ad6b7169203331-01'],
    ['upper case', '00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01'],
    ['no trace id', '00-00000000000000000000000000000000-b7ad6b7169203331-01'],
    ['no span id', '00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01'],
    ['version ff', 'ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'],
    ['more than version 00 has', '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more'],
  ])('drops a traceparent with %s, and the tracestate with it', async (_name, header) => {
    const { id, parent, state } = await sent([
      ['traceparent', header],
      ['tracestate', 'vendor=1'],
    ]);
    expect(id).toMatch(/^[0-9a-f]{32}$/);
    expect(header).not.toContain(id);
    expect([parent, state]).toEqual([undefined, undefined]);
  });

  it('reads later versions, and writes version 00', async () => {
    const later = '01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-ff-more';
    const { parent } = await sent([['traceparent', later]]);
    expect(parent).toBe('00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-03');
  });
});

describe.skipIf(OTLP === undefined || OTLP_GRPC === undefined)('traces by OTLP', () => {
  let upstream: Upstream;
  let artifact: Uint8Array;
  let gw: Gateway;
  beforeAll(async () => {
    let attempts = 0;
    upstream = await startUpstream((request, response, body) => {
      if (request.url === '/silent') return;
      if (request.url === '/broken') return void response.write('half', () => request.socket.destroy());
      if (request.url === '/flaky' && attempts++ === 0) return void request.socket.destroy();
      response.end(body);
    });
    artifact = await compileSpec(document(upstream.url), PLUGINS);
    gw = await startGateway(artifact, {
      args: ['--log-level', 'trace'],
      env: {
        OTEL_EXPORTER_OTLP_ENDPOINT: OTLP ?? '',
        OTEL_SERVICE_NAME: 'books',
        OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test,team=a%20b,service.name=lost',
      },
    });
  });
  afterAll(async () => {
    expect(await gw?.stop()).toBe(0);
    await upstream?.close();
  });

  const call = (path: string, headers: Record<string, string> = {}, init: RequestInit = {}) =>
    fetch(gw.url + path, { ...init, headers: { ...headers, connection: 'close' } });
  const guarded = (headers: Record<string, string>, body = '{"title":"Dune"}') =>
    call(
      '/guarded/7?token=planted-in-query',
      { 'content-type': 'application/json', ...headers },
      { method: 'POST', body },
    );

  it('has a span for each part of a request, down to the call of the upstream', async () => {
    const caller = traceparent('01');
    const response = await guarded({
      'x-api-key': KEY,
      origin: 'https://shop.example',
      traceparent: caller.header,
      tracestate: 'vendor=1',
    });
    expect([response.status, response.headers.get('x-trace-id')]).toEqual([200, caller.traceId]);
    const spans = await traceOf(caller.traceId);
    expect(tree(spans)).toEqual([
      [
        'POST /guarded/{id}',
        [
          'validate parameters',
          'middleware cors request',
          'middleware apikey-auth request',
          'middleware rate-limit request',
          'validate body',
          ['dispatch http-upstream', ['POST']],
        ],
      ],
    ]);

    const server = named(spans, 'POST /guarded/{id}');
    expect(server).toMatchObject({ kind: 2, status: 0, parentSpanId: caller.spanId, traceState: 'vendor=1' });
    expect(server.attributes).toEqual({
      'http.request.method': 'POST',
      'url.scheme': 'http',
      'url.path': '/guarded/7',
      'http.route': '/guarded/{id}',
      'client.address': '127.0.0.1',
      'http.response.status_code': 200,
      'gw.request_id': response.headers.get('x-request-id'),
    });
    expect(server.resource).toMatchObject({
      'service.name': 'books',
      'service.version': '0.8.0',
      'deployment.environment.name': 'test',
      team: 'a b',
    });
    for (const span of spans) {
      expect(span.end >= span.start, span.name).toBe(true);
      expect(span.start >= server.start && span.end <= server.end, span.name).toBe(true);
    }

    const client = named(spans, 'POST');
    expect(client).toMatchObject({ kind: 3, status: 0 });
    expect(client.attributes).toEqual({
      'http.request.method': 'POST',
      'url.full': `${upstream.url}/guarded/7`,
      'server.address': '127.0.0.1',
      'server.port': Number(new URL(upstream.url).port),
      'http.response.status_code': 200,
    });
    expect(upstream.seen.at(-1)?.headers).toMatchObject({
      traceparent: `00-${caller.traceId}-${client.spanId}-01`,
      tracestate: 'vendor=1',
    });
  });

  it('begins a trace where there is none, and says so upstream', async () => {
    const response = await call('/proxy');
    const traceId = response.headers.get('x-trace-id') ?? '';
    const spans = await traceOf(traceId);
    expect(named(spans, 'GET /proxy').parentSpanId).toBe('');
    expect(upstream.seen.at(-1)?.headers['traceparent']).toBe(`00-${traceId}-${named(spans, 'GET').spanId}-01`);
  });

  it('says which part refused, and with which problem', async () => {
    const refused = async (response: Response) => traceOf(response.headers.get('x-trace-id') ?? '');
    const anonymous = await refused(await guarded({}));
    expect(named(anonymous, 'middleware apikey-auth request').attributes['gw.outcome']).toBe('answered');
    expect(named(anonymous, 'POST /guarded/{id}')).toMatchObject({
      status: 0,
      attributes: { 'http.response.status_code': 401, 'gw.problem': expect.any(String) },
    });
    const invalid = await refused(await guarded({ 'x-api-key': KEY }, '{}'));
    expect(named(invalid, 'validate body').attributes['gw.outcome']).toBe('refused');
    expect(named(invalid, 'POST /guarded/{id}').attributes).toMatchObject({
      'http.response.status_code': 400,
      'gw.problem': 'validation-failed',
    });
    const unmatched = await refused(await call('/nowhere'));
    expect(tree(unmatched)).toEqual(['GET']);
    expect(unmatched[0]?.attributes).toMatchObject({ 'url.path': '/nowhere', 'gw.problem': 'route-not-found' });
    expect(unmatched[0]?.attributes).not.toHaveProperty('http.route');
  });

  it('marks what failed in the gateway or behind it as errors, and says how', async () => {
    const response = await call('/dead');
    expect(response.status).toBe(502);
    const spans = await traceOf(response.headers.get('x-trace-id') ?? '');
    const failed = (type: string) => ({ status: 2, attributes: expect.objectContaining({ 'error.type': type }) });
    expect(named(spans, 'GET /dead')).toMatchObject(failed('upstream-failed'));
    expect(named(spans, 'dispatch http-upstream')).toMatchObject(failed('upstream-failed'));
    expect(named(spans, 'GET')).toMatchObject(failed('ECONNREFUSED'));
  });

  it('has a span for each attempt at the upstream', async () => {
    const response = await call('/flaky');
    expect(response.status).toBe(200);
    const spans = await traceOf(response.headers.get('x-trace-id') ?? '');
    expect(tree(spans)).toEqual([['GET /flaky', [['dispatch http-upstream', ['GET', 'GET']]]]]);
    const [first, second] = spans.filter(({ kind }) => kind === 3).sort((a, b) => Number(a.start - b.start));
    expect(first).toMatchObject({ status: 2, attributes: { 'error.type': 'UND_ERR_SOCKET' } });
    expect(second).toMatchObject({
      status: 0,
      attributes: { 'http.request.resend_count': 1, 'http.response.status_code': 200 },
    });
    const upstreamSaw = upstream.seen
      .filter(({ url }) => url === '/flaky')
      .map(({ headers }) => headers['traceparent']);
    expect(upstreamSaw).toEqual([first, second].map((span) => `00-${span?.traceId}-${span?.spanId}-01`));
  });

  it('ends the spans of what breaks off, times out, or is left by its client', async () => {
    const broken = traceparent('01');
    await expect(call('/broken', { traceparent: broken.header }).then((each) => each.text())).rejects.toThrow();
    expect(named(await traceOf(broken.traceId), 'GET')).toMatchObject({
      status: 2,
      attributes: { 'http.response.status_code': 200, 'error.type': 'UND_ERR_SOCKET' },
    });

    const silent = await call('/silent');
    const spans = await traceOf(silent.headers.get('x-trace-id') ?? '');
    expect(named(spans, 'GET').attributes['error.type']).toBe('UND_ERR_HEADERS_TIMEOUT');
    expect(named(spans, 'GET /silent').attributes).toMatchObject({
      'http.response.status_code': 504,
      'error.type': 'upstream-timeout',
    });

    const left = traceparent('01');
    const impatient = AbortSignal.timeout(200);
    await expect(call('/silent', { traceparent: left.header }, { signal: impatient })).rejects.toThrow();
    const ended = await traceOf(left.traceId);
    expect(tree(ended)).toEqual([['GET /silent', [['dispatch http-upstream', ['GET']]]]]);
    for (const name of ['GET', 'GET /silent'])
      expect(named(ended, name).attributes['error.type']).toBe('client-closed');
    expect(named(ended, 'GET /silent').attributes).not.toHaveProperty('http.response.status_code');
  });

  it('names methods that it does not know by one name', async () => {
    const response = await call('/mock', {}, { method: 'PROPFIND' });
    const [span] = await traceOf(response.headers.get('x-trace-id') ?? '');
    expect(span?.name).toBe('HTTP');
    expect(span?.attributes).toMatchObject({
      'http.request.method': '_OTHER',
      'http.request.method_original': 'PROPFIND',
    });
  });

  it('follows a caller who does not sample', async () => {
    const caller = traceparent('00');
    await call('/proxy', { traceparent: caller.header });
    expect(upstream.seen.at(-1)?.headers['traceparent']).toBe(caller.header);
    // What came after it has arrived, and of it nothing has.
    const later = await call('/mock');
    await traceOf(later.headers.get('x-trace-id') ?? '');
    expect(await spansOf(caller.traceId)).toEqual([]);
  });

  it('exports what is left when it stops, and by gRPC too', async () => {
    for (const args of [
      ['--otlp-endpoint', OTLP_GRPC ?? '', '--trace-sampling', '1.0'],
      ['--otlp-endpoint', (OTLP_GRPC ?? '').replace('http:', 'grpc:')],
    ]) {
      const env = args.length === 4 ? { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' } : {};
      const other = await startGateway(artifact, { args, env });
      const id = (await fetch(`${other.url}/mock`)).headers.get('x-trace-id') ?? '';
      expect(await other.stop()).toBe(0);
      const spans = await spansOf(id);
      expect(tree(spans)).toEqual([['GET /mock', ['dispatch mock']]]);
      expect(spans[0]?.resource['service.name']).toBe('gw');
    }
  });

  it('records the share of --trace-sampling, and all that callers sample', async () => {
    const other = await startGateway(artifact, {
      args: ['--otlp-endpoint', OTLP ?? '', '--trace-sampling', '0.5'],
    });
    const ids: string[] = [];
    for (let i = 0; i < 64; i++) ids.push((await fetch(`${other.url}/mock`)).headers.get('x-trace-id') ?? '');
    const caller = traceparent('01');
    await fetch(`${other.url}/mock`, { headers: { traceparent: caller.header } });
    await other.stop();
    const recorded = await Promise.all(ids.map(async (id) => (await spansOf(id)).length > 0));
    const share = recorded.filter(Boolean).length;
    // 64 coins all on one side: once in 10^19 runs.
    expect(share).toBeGreaterThan(0);
    expect(share).toBeLessThan(64);
    expect(await spansOf(caller.traceId)).not.toEqual([]);
  });

  it('records nothing at --trace-sampling 0, whatever callers say, and passes their context on', async () => {
    const other = await startGateway(artifact, { args: ['--otlp-endpoint', OTLP ?? '', '--trace-sampling', '0.0'] });
    const caller = traceparent('01');
    await fetch(`${other.url}/proxy`, { headers: { traceparent: caller.header } });
    expect(upstream.seen.at(-1)?.headers['traceparent']).toBe(caller.header);
    await other.stop();
    expect(await spansOf(caller.traceId)).toEqual([]);
  });

  it('puts no key, query or header into a span or a log line', async () => {
    const response = await guarded({
      'x-api-key': KEY,
      authorization: 'Bearer planted-token',
      cookie: 'a=planted-cookie',
    });
    await traceOf(response.headers.get('x-trace-id') ?? '');
    const spans = await (await fetch(`${OTLP}/traces`)).text();
    for (const text of [spans, JSON.stringify(gw.log)]) {
      for (const secret of [KEY, 'planted-in-query', 'planted-token', 'planted-cookie']) {
        expect(text).not.toContain(secret);
      }
    }
  });
});

describe('the collector', () => {
  it('gets headers and compression as OpenTelemetry has them, from every worker, and the log has none of it', async () => {
    const seen: { url: string | undefined; headers: IncomingHttpHeaders }[] = [];
    const instances = new Set<string>();
    const collector = createServer((request, response) => {
      seen.push({ url: request.url, headers: request.headers });
      const chunks: Buffer[] = [];
      request.on('data', (chunk) => chunks.push(chunk));
      request.on('end', () => {
        const [id] = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(gunzipSync(Buffer.concat(chunks)).toString('latin1')) ?? [];
        if (id !== undefined) instances.add(id);
        response.end();
      });
    });
    await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
    const { port } = collector.address() as AddressInfo;
    const gw = await startGateway(await compileSpec(document('http://127.0.0.1:1'), PLUGINS), {
      args: ['--otlp-endpoint', `http://127.0.0.1:${port}/base/`, '--workers', '2'],
      env: { OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20planted', OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip' },
    });
    // Whichever worker takes a connection, with enough of them both have had some.
    await expect
      .poll(
        async () => {
          for (let i = 0; i < 8; i++) await fetch(`${gw.url}/mock`, { headers: { connection: 'close' } });
          return instances.size;
        },
        { timeout: 20_000, interval: 500 },
      )
      .toBe(2);
    expect(await gw.stop()).toBe(0);
    collector.close();
    for (const { url, headers } of seen) {
      expect(url).toBe('/base/v1/traces');
      expect(headers).toMatchObject({
        authorization: 'Bearer planted',
        'content-encoding': 'gzip',
        'content-type': 'application/x-protobuf',
      });
    }
    expect(JSON.stringify(gw.log)).not.toContain('planted');
  });
});

describe('a collector that goes away', () => {
  it('is logged once, holds up no request, and gets spans again when it is back', async () => {
    let up = false;
    let received = 0;
    const collector = createServer((request, response) => {
      if (up) received++;
      request.resume().on('end', () => response.writeHead(up ? 200 : 400).end());
    });
    await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
    const { port } = collector.address() as AddressInfo;
    const gw = await startGateway(await compileSpec(document('http://127.0.0.1:1'), PLUGINS), {
      args: ['--otlp-endpoint', `http://127.0.0.1:${port}`],
    });
    const lines = (part: string) => gw.log.filter(({ msg }) => msg.includes(part));
    const request = async () => expect((await fetch(`${gw.url}/mock`)).status).toBe(200);
    await request();
    const away = await gw.logged(({ msg }) => msg.startsWith('traces cannot be exported'));
    expect(away).toMatchObject({ level: 'warn', endpoint: `http://127.0.0.1:${port}`, reason: expect.any(String) });
    for (let i = 0; i < 3; i++) {
      await request();
      await new Promise((resolve) =>
        collector.once('request', (_request, response) => response.once('finish', resolve)),
      );
    }
    expect(lines('traces cannot be exported')).toHaveLength(1);
    up = true;
    await request();
    const back = await gw.logged(({ msg }) => msg === 'traces are exported again');
    expect(back['spans_lost']).toBeGreaterThanOrEqual(8);
    expect(received).toBeGreaterThan(0);
    expect(await gw.stop()).toBe(0);
    collector.close();
  });

  it('keeps no shutdown waiting', async () => {
    const gw = await startGateway(await compileSpec(document('http://127.0.0.1:1'), PLUGINS), {
      args: ['--otlp-endpoint', 'http://127.0.0.1:1', '--shutdown-timeout', '1'],
    });
    expect((await fetch(`${gw.url}/mock`, { headers: { connection: 'close' } })).status).toBe(200);
    const from = performance.now();
    expect(await gw.stop()).toBe(0);
    expect(performance.now() - from).toBeLessThan(5_000);
    expect(gw.log.find(({ msg }) => msg === 'spans were not exported')).toMatchObject({ spans: 2 });
  });
});

describe('gw serve refuses', () => {
  it.each([
    [['--otlp-endpoint', 'collector:4317'], {}, 'must begin with http://'],
    [['--otlp-endpoint', 'not a url'], {}, 'give one such as http://collector:4318'],
    [['--otlp-endpoint', 'http://user:planted@127.0.0.1:4318'], {}, 'OTEL_EXPORTER_OTLP_HEADERS'],
    [
      ['--otlp-endpoint', 'http://127.0.0.1:4318'],
      { OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' },
      'must be http/protobuf or grpc',
    ],
    [['--trace-sampling', '1.5'], {}, 'Give a number from 0.0 to 1.0'],
  ])('%j', async (args, env, reason) => {
    const { code, stderr } = await refusedStart(['--artifact', 'none.gwa', ...args], env);
    expect(code).toBe(1);
    expect(stderr).toContain(reason);
    expect(stderr).not.toContain('planted');
  });
});
