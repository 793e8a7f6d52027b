/** Tokens in traces: asking the authorization server is a call of its own, and no token is in any span. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Gateway } from '../../../../test/serve/gateway.ts';
import { type Issuer, startIssuer } from '../../../../test/serve/issuer.ts';
import { OTLP, traceOf, tree } from '../../../../test/serve/spans.ts';
import { ask, startSecured } from '../../../../test/serve/token-api.ts';
import { traceparent } from '../../../../test/serve/traced-project.ts';

describe.skipIf(OTLP === undefined)('traces of requests with tokens (needs OTLP_ENDPOINT)', () => {
  let issuer: Issuer;
  let gw: Gateway;
  beforeAll(async () => {
    issuer = await startIssuer();
    const config = {
      introspection_endpoint: `${issuer.url}/introspect`,
      client_id: 'a',
      client_secret: 'env://SECRET',
    };
    gw = await startSecured(
      {
        '/opaque': { plugin: 'oauth2-auth', config },
        '/query': { plugin: 'oidc-auth', config: { issuer_url: issuer.url, allow_query_token: true } },
      },
      { env: { OTEL_EXPORTER_OTLP_ENDPOINT: OTLP ?? '', SECRET: 'planted-secret' } },
    );
  });
  afterAll(async () => {
    await gw?.stop();
    await issuer?.down();
  });

  it('show the introspection below its middleware, and it takes the trace on', async () => {
    issuer.active.set('planted-token', { active: true, sub: 'alice' });
    const caller = traceparent('01');
    expect((await ask(`${gw.url}/opaque`, 'planted-token', { traceparent: caller.header })).status).toBe(200);
    const spans = await traceOf(caller.traceId);
    expect(tree(spans)).toEqual([['GET /opaque', [['middleware oauth2-auth request', ['POST']], 'dispatch mock']]]);
    const call = spans.find(({ name }) => name === 'POST');
    expect(call?.attributes).toMatchObject({
      'url.full': issuer.url,
      'http.response.status_code': 200,
    });
    // Beside it, discovery of the other operation may be asked for at any time.
    const introspection = issuer.asked.findLast(({ path }) => path === '/introspect');
    expect(introspection?.headers['traceparent']).toBe(`00-${caller.traceId}-${call?.spanId}-01`);
    expect(JSON.stringify(spans, (_, value) => (typeof value === 'bigint' ? String(value) : value))).not.toContain(
      'planted',
    );
  });

  it('hold no token of the query', async () => {
    const token = issuer.token();
    const caller = traceparent('01');
    const url = `${gw.url}/query?access_token=${token}`;
    expect((await ask(url, null, { traceparent: caller.header })).status).toBe(200);
    const spans = await traceOf(caller.traceId);
    const text = JSON.stringify(spans, (_, value) => (typeof value === 'bigint' ? String(value) : value));
    expect(text).not.toContain(token.slice(-30));
    expect(text).not.toContain('access_token');
  });
});
