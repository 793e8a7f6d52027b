/** One client that keeps all checks of credentials busy, beside another one (docs/decisions.md#shared-limits). */
import { randomUUID } from 'node:crypto';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../../../test/eventually.ts';
import { askFrom, startFlood } from '../../../../test/serve/flood.ts';
import { compileSpec, type Gateway, startGateway } from '../../../../test/serve/gateway.ts';
import { makeHash } from '../../../src/cli/hash.ts';

const [FLOOD, CLIENT] = ['127.0.0.9', '127.0.0.1'];
const basic = (name: string, password: string) => ({
  authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`,
});

describe('a flood of credentials from one client, through gw serve', () => {
  let gw: Gateway;
  /** Answers tokens that begin with `good`, and lets all others wait. */
  let issuer: Server;
  let held = new Set<ServerResponse>();
  beforeAll(async () => {
    issuer = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      const form = new URLSearchParams(body);
      const token = form.get('token') ?? form.get('subject_token') ?? '';
      response.setHeader('content-type', 'application/json');
      const answer = form.has('subject_token')
        ? {
            access_token: 'issued',
            token_type: 'Bearer',
            issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
          }
        : { active: true };
      if (token.startsWith('good')) response.end(JSON.stringify(answer));
      else held.add(response);
    });
    await new Promise<void>((resolve) => issuer.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(issuer.address() as AddressInfo).port}`;
    const operation = (name: string, config: object) => ({
      get: {
        responses: { 200: { description: 'OK' } },
        security: [{ [name === 'basic-auth' ? 'user' : 'token']: [] }],
        'x-gw-middlewares': [{ name, config }],
        'x-gw-dispatch': { name: 'mock', config: { body: 'ok' } },
      },
    });
    const flows = { clientCredentials: { tokenUrl: 'https://issuer.example/token', scopes: {} } };
    const client = { client_id: 'gateway', client_secret: 'secret', timeout: 60 };
    const artifact = await compileSpec(
      {
        openapi: '3.1.0',
        info: { title: 'Credentials', version: '1' },
        components: {
          securitySchemes: { user: { type: 'http', scheme: 'basic' }, token: { type: 'oauth2', flows } },
        },
        paths: {
          '/password': operation('basic-auth', {
            credentials: [{ username: 'alice', password: makeHash('alicepw', 'scrypt') }],
          }),
          '/introspected': operation('oauth2-auth', { introspection_endpoint: `${url}/introspect`, ...client }),
          '/exchanged': operation('token-exchange', { token_endpoint: `${url}/token`, audience: 'api', ...client }),
        },
      },
      ['basic-auth', 'oauth2-auth', 'token-exchange', 'mock'],
    );
    gw = await startGateway(artifact, { env: {} });
  });
  afterAll(async () => {
    expect(await gw?.stop()).toBe(0);
    issuer?.closeAllConnections();
    issuer?.close();
  });

  it('lets another client in with a password, and refuses the flood', async () => {
    const url = `${gw.url}/password`;
    const flood = startFlood({
      url,
      from: FLOOD,
      inFlight: 300,
      headers: () => ({ ':path': '/password', ...basic(randomUUID(), 'p') }),
    });
    await eventually(() => (flood.answers.get(503) ?? 0) > 0);
    expect((await askFrom(CLIENT, url, basic('nobody', 'p'))).status).toBe(401);
    expect((await askFrom(CLIENT, url, basic('alice', 'alicepw'))).status).toBe(200);
    flood.stop();
  });

  it.each(['/introspected', '/exchanged'])('lets another client in with a token at %s', async (path) => {
    const url = gw.url + path;
    const headers = () => ({ ':path': path, authorization: `Bearer ${randomUUID()}` });
    held = new Set();
    const flood = startFlood({ url, from: FLOOD, inFlight: 500, connections: 8, headers });
    await eventually(() => held.size >= 500);
    for (let i = 0; i < 3; i++) {
      const answer = await askFrom(CLIENT, url, { authorization: `Bearer good${i}` });
      expect([answer.status, answer.body]).toEqual([200, 'ok']);
    }
    expect(flood.answers.get(503)).toBeGreaterThan(0);
    flood.stop();
    issuer.closeAllConnections();
  });
});
