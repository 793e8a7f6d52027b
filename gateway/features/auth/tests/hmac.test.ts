/** hmac-auth through a real `gw serve`: as sent over HTTP/1.1 and HTTP/2, by workers that share nonces. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileSpec, type Echo, type Gateway, jsonOf, startGateway } from '../../../../test/serve/gateway.ts';
import { h2, h2session } from '../../../../test/serve/http.ts';
import { sign } from '../../../../test/serve/signer.ts';
import { startUpstream, type Upstream } from '../../../../test/serve/upstream.ts';

const secret = 'a shared secret of more than sixteen bytes';
const signing = { keyid: 'billing-1', secret };

describe('hmac-auth, through gw serve', () => {
  let upstream: Upstream;
  let gw: Gateway;
  beforeAll(async () => {
    upstream = await startUpstream();
    const operation = (config: object, body = {}) => ({
      responses: { 200: { description: 'OK' } },
      security: [{ signature: [] }],
      ...body,
      'x-gw-middlewares': [
        {
          name: 'hmac-auth',
          config: { keys: [{ id: 'billing-1', secret: 'env://BILLING', groups: ['services'] }], ...config },
        },
      ],
      'x-gw-dispatch': { name: 'http-upstream', config: { url: upstream.url } },
    });
    const schema = { type: 'object', required: ['id'] };
    const requestBody = { content: { 'application/json': { schema } } };
    const document = {
      openapi: '3.1.0',
      info: { title: 'Signed', version: '1' },
      components: { securitySchemes: { signature: { type: 'apiKey', in: 'header', name: 'Signature' } } },
      paths: {
        '/orders': {
          get: operation({ required_components: ['@method', '@path', '@query', 'x-order'] }),
          post: operation({}, { requestBody }),
        },
        '/once': { get: operation({ replay_protection: true }) },
      },
    };
    const artifact = await compileSpec(document, ['hmac-auth', 'http-upstream']);
    gw = await startGateway(artifact, { args: ['--workers', '2'], env: { BILLING: secret } });
  });
  afterAll(async () => {
    expect(await gw?.stop()).toBe(0);
    await upstream?.close();
  });

  it('lets in what is signed as it was sent, with the headers that must be', async () => {
    const url = `${gw.url}/orders?a=%2f&b=1+2`;
    const components = ['@method', '@path', '@query', 'x-order', '@authority', '@target-uri'];
    const headers = sign({ method: 'GET', url, headers: { 'x-order': '7' } }, { ...signing, components });
    const answer = await fetch(url, { headers: { ...headers, 'x-auth-consumer': 'root' } });
    expect(answer.status).toBe(200);
    expect((await jsonOf<Echo>(answer)).headers).toMatchObject({
      'x-auth-consumer': 'billing-1',
      'x-auth-consumer-groups': 'services',
      'x-order': '7',
    });
    expect((await fetch(url, { headers: { ...headers, 'x-order': '8' } })).status).toBe(401);
    expect((await fetch(`${url}&c`, { headers })).status).toBe(401);
    expect((await fetch(url)).status).toBe(401);
  });

  it('checks the body by its digest, and forwards it', async () => {
    const url = `${gw.url}/orders`;
    const body = JSON.stringify({ id: 7, text: 'x'.repeat(100_000) });
    const given = { 'content-type': 'application/json' };
    const headers = sign({ method: 'POST', url, headers: given, body }, signing);
    const answer = await fetch(url, { method: 'POST', headers, body });
    expect(answer.status).toBe(200);
    expect((await jsonOf<Echo>(answer)).body).toBe(body);
    const changed = body.replace('7', '8');
    expect((await fetch(url, { method: 'POST', headers, body: changed })).status).toBe(401);
    // A stranger learns nothing of what the body must be.
    const stranger = sign({ method: 'POST', url, headers: given, body: '{}' }, { ...signing, secret: `${secret}!` });
    expect((await fetch(url, { method: 'POST', headers: stranger, body: '{}' })).status).toBe(401);
    const known = sign({ method: 'POST', url, headers: given, body: '{}' }, signing);
    expect((await fetch(url, { method: 'POST', headers: known, body: '{}' })).status).toBe(400);
  });

  it('reads :authority and :path of HTTP/2 as they were signed', async () => {
    const session = await h2session(gw.url);
    const headers = sign(
      { method: 'GET', url: `${gw.url}/orders?z`, headers: { 'x-order': '7' } },
      { ...signing, components: ['@method', '@target-uri', 'x-order'] },
    );
    expect((await h2(session, { ':path': '/orders?z', ...headers })).status).toBe(200);
    expect((await h2(session, { ':path': '/orders?y', ...headers })).status).toBe(401);
    session.close();
  });

  it('takes a nonce once over all workers', async () => {
    const url = `${gw.url}/once`;
    for (let i = 0; i < 5; i++) {
      const created = `created=${Math.floor(Date.now() / 1000)}`;
      const headers = sign({ method: 'GET', url }, { ...signing, params: [created, `nonce="${crypto.randomUUID()}"`] });
      const statuses = await Promise.all(Array.from({ length: 8 }, async () => (await fetch(url, { headers })).status));
      expect(statuses.sort()).toEqual([200, ...Array(7).fill(401)]);
    }
  });
});
