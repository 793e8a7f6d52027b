/** observability through a real `gw serve`: objectives, and fields of requests in metrics, access log and traces. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../../../test/eventually.ts';
import { compileSpec, type Gateway, startGateway } from '../../../../test/serve/gateway.ts';
import { scrape } from '../../../../test/serve/scrape.ts';
import { OTLP, traceOf } from '../../../../test/serve/spans.ts';
import { traceparent } from '../../../../test/serve/traced-project.ts';
import { startUpstream, type Upstream } from '../../../../test/serve/upstream.ts';

const PLUGINS = ['observability', 'mock', 'http-upstream', 'apikey-auth', 'cel'];
const KEYS = ['alice', 'bob', 'carol'].map((id) => ({ key: `key-of-${id}`, id }));

let upstream: Upstream;
let gw: Gateway;

const operation = (config: object, more: object = {}, others: readonly object[] = []) => ({
  get: {
    responses: { default: { description: 'any' } },
    'x-gw-middlewares': [{ name: 'observability', config }, ...others],
    'x-gw-dispatch': { name: 'mock', config: { body: 'hello' } },
    ...more,
  },
});
const mock = (status: number) => ({ 'x-gw-dispatch': { name: 'mock', config: { status, body: 'hello' } } });
const proxy = () => ({ 'x-gw-dispatch': { name: 'http-upstream', config: { url: upstream.url } } });
const tenant = (more: object = {}) => ({ fields: { tenant: { from: 'header:X-Tenant', ...more } } });

beforeAll(async () => {
  upstream = await startUpstream((_, response) => void setTimeout(() => response.end('late'), 60));
  const auth = { name: 'apikey-auth', config: { keys: KEYS } };
  const plan = { name: 'cel', config: { expression: 'true', on_match: { set_context: { plan: 'gold' } } } };
  const customer = { from: 'consumer', metrics: true, max_values: 2 };
  const document = {
    openapi: '3.1.0',
    info: { title: 'Observed', version: '1' },
    components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'x-api-key' } } },
    paths: {
      '/fast/{id}': {
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }],
        ...operation({ slow_after: 600 }),
      },
      '/slow': operation({ slow_after: 0.05 }, proxy()),
      '/failing': operation({ slow_after: 600 }, mock(503)),
      '/tenants': operation(tenant({ metrics: true, values: ['acme', 'globex'] })),
      '/silent-field': operation(tenant({ log: false, trace: false })),
      '/keys': operation({ fields: { customer } }, { security: [{ key: [] }] }, [auth]),
      '/plans': operation({ fields: { plan: { from: 'context:plan' } } }, {}, [plan]),
      '/sampled': operation({ log_sample: 0 }),
      '/sampled-failing': operation({ log_sample: 0 }, mock(500)),
      '/sampled-slow': operation({ log_sample: 0, slow_after: 0.05 }, proxy()),
      '/replaced': operation(tenant(), {}, [
        { name: 'observability', config: { fields: { plan: { from: 'header:x-plan' } } } },
      ]),
    },
  };
  gw = await startGateway(await compileSpec(document, PLUGINS), {
    env: OTLP === undefined ? {} : { OTEL_EXPORTER_OTLP_ENDPOINT: OTLP },
  });
});
afterAll(async () => {
  await gw?.stop();
  await upstream?.close();
});

const call = async (path: string, headers: Record<string, string> = {}) => {
  const response = await fetch(gw.url + path, { headers });
  await response.arrayBuffer();
  return { status: response.status, id: response.headers.get('x-request-id') };
};
const line = (id: string | null) => gw.logged(({ msg, request_id }) => msg === 'request' && request_id === id);
const counted = async (field: string) => {
  const { samples } = await scrape(gw.admin);
  const ofField = samples.filter(
    ({ name, labels }) => name === 'gw_observed_requests_total' && labels['field'] === field,
  );
  return Object.fromEntries(
    ofField.map(({ labels, value }) => [`${labels['value']} ${labels['status_class']}`, value]),
  );
};
const objective = async (path: string) => {
  const { samples } = await scrape(gw.admin);
  const ofPath = samples.filter(
    ({ name, labels }) => name === 'gw_objective_requests_total' && labels['path'] === path,
  );
  return ofPath.map(({ labels, value }) => ({ ...labels, value }));
};

describe('an objective', () => {
  const labels = { method: 'GET', api: 'observed', value: 1 };

  it('is met by what is answered in time, and not by what took longer or failed', async () => {
    await Promise.all(['/fast/7', '/slow', '/failing'].map((path) => call(path)));
    await eventually(async () => {
      expect(await objective('/fast/{id}')).toEqual([{ ...labels, path: '/fast/{id}', objective: 'met' }]);
      expect(await objective('/slow')).toEqual([{ ...labels, path: '/slow', objective: 'slow' }]);
      expect(await objective('/failing')).toEqual([{ ...labels, path: '/failing', objective: 'failed' }]);
    });
  });

  it('is not there where requests do not reach it', async () => {
    expect((await call('/fast/no-integer')).status).toBe(400);
    const [only] = await objective('/fast/{id}');
    expect(only).toMatchObject({ objective: 'met', value: 1 });
  });

  it('has a line at warn where a request was slow, which names its route and identifier', async () => {
    const { id } = await call('/sampled-slow?token=planted');
    const slow = await gw.logged(({ level, request_id }) => level === 'warn' && request_id === id);
    expect(slow.msg).toMatch(
      /^slow: GET \/sampled-slow took \d+\.\d ms, \d+\.\d of them from dispatch .*; status 200$/,
    );
    expect(JSON.stringify(slow)).not.toContain('planted');
  });
});

describe('a field', () => {
  it('is counted by the values that are listed, whatever clients send', async () => {
    const sent = ['acme', 'acme', 'globex', ...Array.from({ length: 50 }, (_, i) => `made-up-${i}`), 'a"b'];
    for (const each of sent) await call('/tenants', { 'x-tenant': each });
    await call('/tenants');
    await eventually(async () =>
      expect(await counted('tenant')).toEqual({ 'acme 2xx': 2, 'globex 2xx': 1, 'other 2xx': 51, 'none 2xx': 1 }),
    );
    const durations = (await scrape(gw.admin)).histogram('gw_observed_request_duration_seconds', {
      ...{ field: 'tenant', value: 'other', api: 'observed' },
    });
    expect(durations.count).toBe(51);
  });

  it('that is the consumer is counted for the first of them, never for what a client says that it is', async () => {
    expect((await call('/keys', { 'x-auth-consumer': 'forged' })).status).toBe(401);
    for (const { key } of [...KEYS, ...KEYS]) expect((await call('/keys', { 'x-api-key': key })).status).toBe(200);
    await eventually(async () =>
      expect(await counted('customer')).toEqual({ 'none 4xx': 1, 'alice 2xx': 2, 'bob 2xx': 2, 'other 2xx': 2 }),
    );
  });

  it('is in the access log as it is, and cut where it is long', async () => {
    const { id } = await call('/tenants', { 'x-tenant': 'a "quoted" \u00e9' });
    expect(await line(id)).toMatchObject({ route: '/tenants', observed: { tenant: 'a "quoted" \u00e9' } });
    const long = await call('/tenants', { 'x-tenant': 'x'.repeat(5000) });
    expect((await line(long.id))['observed']).toEqual({ tenant: `${'x'.repeat(256)}…` });
    expect(await line((await call('/tenants')).id)).not.toHaveProperty('observed');
  });

  it('can come from what later middlewares have set', async () => {
    expect(await line((await call('/plans')).id)).toMatchObject({ observed: { plan: 'gold' } });
    const { id } = await call('/keys', { 'x-api-key': 'key-of-alice' });
    expect(await line(id)).toMatchObject({ consumer: 'alice', observed: { customer: 'alice' } });
  });

  it('stays out of the log where its config says so', async () => {
    expect(await line((await call('/silent-field', { 'x-tenant': 'acme' })).id)).not.toHaveProperty('observed');
  });

  it('is the last config’s where a chain has several', async () => {
    const { id } = await call('/replaced', { 'x-tenant': 'acme', 'x-plan': 'gold' });
    expect((await line(id))['observed']).toEqual({ plan: 'gold' });
  });

  it.skipIf(OTLP === undefined)('is an attribute of the request’s span, and of no other', async () => {
    const caller = traceparent('01');
    await call('/tenants', { 'x-tenant': 'acme', traceparent: caller.header });
    const spans = await traceOf(caller.traceId);
    const having = spans.filter(({ attributes }) => attributes['gw.observed.tenant'] === 'acme');
    expect(having.map(({ name }) => name)).toEqual(['GET /tenants']);
    const silent = traceparent('01');
    await call('/silent-field', { 'x-tenant': 'acme', traceparent: silent.header });
    expect(JSON.stringify((await traceOf(silent.traceId)).map(({ attributes }) => attributes))).not.toContain('acme');
  });
});

describe('the access log', () => {
  it('leaves out what is not of the sample, but never what failed or was slow', async () => {
    const left = await call('/sampled');
    const failed = await call('/sampled-failing');
    const slow = await call('/sampled-slow');
    expect(await line(failed.id)).toMatchObject({ status: 500 });
    expect(await line(slow.id)).toMatchObject({ status: 200, route: '/sampled-slow' });
    // Lines come in the order in which requests ended.
    expect(gw.log.some(({ msg, request_id }) => msg === 'request' && request_id === left.id)).toBe(false);
  });
});
