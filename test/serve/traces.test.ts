/**
 * Traces that `gw serve` exports to a real collector (docs/reference/gateway.md#traces; --otlp-endpoint,
 * --trace-sampling).
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { VERSION } from '../../gateway/src/version.ts';
import { compileSpec, type Gateway, startGateway } from './gateway.ts';
import { OTLP, OTLP_GRPC, type ReceivedSpan, spansOf, traceOf, tree } from './spans.ts';
import { document, KEY, PLUGINS, traceparent } from './traced-project.ts';
import { startUpstream, type Upstream } from './upstream.ts';

const named = (spans: readonly ReceivedSpan[], name: string) => {
  const found = spans.find((span) => span.name === name);
  if (!found) throw new Error(`no span ${name} among ${spans.map((span) => span.name).join(', ')}`);
  return found;
};

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
      'service.version': VERSION,
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
    const withheld = await refused(await call('/checked'));
    expect(tree(withheld)).toEqual([['GET /checked', ['dispatch mock', 'validate response']]]);
    expect(named(withheld, 'GET /checked')).toMatchObject({
      status: 2,
      attributes: { 'http.response.status_code': 502, 'error.type': 'response-invalid' },
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
    expect(first).toMatchObject({ status: 2, attributes: { 'error.type': 'GW_UPSTREAM_CLOSED' } });
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
      attributes: { 'http.response.status_code': 200, 'error.type': 'GW_UPSTREAM_BROKE_OFF' },
    });

    const silent = await call('/silent');
    const spans = await traceOf(silent.headers.get('x-trace-id') ?? '');
    expect(named(spans, 'GET').attributes['error.type']).toBe('GW_UPSTREAM_TIMEOUT');
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
    const decisions = new Map<string, boolean>();
    for (let i = 0; i < 64; i++) {
      const id = (await fetch(`${other.url}/proxy`)).headers.get('x-trace-id') ?? '';
      const told = upstream.seen.at(-1)?.headers['traceparent'];
      expect(told).toMatch(new RegExp(`^00-${id}-[0-9a-f]{16}-0[01]$`));
      decisions.set(id, String(told).endsWith('1'));
    }
    const caller = traceparent('01');
    await fetch(`${other.url}/mock`, { headers: { traceparent: caller.header } });
    await other.stop();
    // What upstreams are told is what was decided.
    for (const [id, recorded] of decisions) expect((await spansOf(id)).length > 0).toBe(recorded);
    // 64 coins all on one side: once in 10^19 runs.
    expect(new Set(decisions.values()).size).toBe(2);
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
