/** A gateway with all that a client of MCP can ask for: operations as tools, and upstream servers of both eras (docs/mcp.md). */
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually } from '../eventually.ts';
import { startFixtureServer } from '../mcp-conformance/fixture-server.ts';
import { compileSpec, type Gateway, startGateway } from '../serve/gateway.ts';
import { openSession, post } from '../serve/mcp-project.ts';
import { startUpstream } from '../serve/upstream.ts';

/** Tools besides those that cases call: more than are on one page. */
const MANY = 120;
export const COVER = Buffer.from('iVBORw0KGgo=', 'base64');
export const CREDENTIALS = { id: 'agent', secret: 'agent-secret-0123' };

export interface McpClientRig {
  /** Of the endpoint. */
  readonly url: string;
  /** Who gives tokens for its tool `mine`. */
  readonly issuer: string;
  readonly gw: Gateway;
  /** The exit code of the gateway. */
  close(): Promise<number>;
}

export async function startMcpClientRig(): Promise<McpClientRig> {
  const issuer = await startIssuer();
  const upstream = await startShop();
  const servers = await Promise.all([startFixtureServer('sessions'), startFixtureServer('stateless')]);
  const [early, late] = servers;
  const mcp = { upstreams: { early: { url: early.url }, late: { url: late.url } } };
  const plugins = ['http-upstream', 'jwt-auth', 'mock'];
  const artifact = await compileSpec(document(upstream.url, issuer), plugins, [], {}, { mcp });
  const gw = await startGateway(artifact, { args: ['--mcp-page-size', '100'] });
  issuer.resource = `${gw.url}/__gw/mcp`;
  const session = await openSession(gw.url);
  for (const upstream of ['early', 'late']) {
    const params = { name: `${upstream}_json_schema_2020_12_tool` };
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
    await eventually(async () => (await post(gw.url, message, session)).body?.error === undefined);
  }
  return {
    url: issuer.resource,
    issuer: issuer.url,
    gw,
    async close() {
      const code = await gw.stop();
      await Promise.all([upstream.close(), issuer.close(), ...servers.map((each) => each.close())]);
      return code;
    },
  };
}

function document(upstream: string, issuer: Issuer): object {
  const get = (operationId: string, schema: object | null, more: object = {}) => ({
    get: {
      operationId,
      responses: { 200: { description: 'x', ...(schema ? { content: { 'application/json': { schema } } } : {}) } },
      'x-gw-dispatch': { name: 'http-upstream', config: { url: upstream } },
      ...more,
    },
  });
  const book = { type: 'object', required: ['title'], properties: { title: { type: 'string' } } };
  const paths: Record<string, object> = {
    '/book': get('book', book),
    '/books': get('books', { type: 'array', items: book }),
    '/cover': get('cover', null),
    '/slow': get('slow', null),
    '/slow-calls': get('slow_calls', { type: 'object' }),
    '/gone': get('gone', null),
    '/mine': get('mine', null, {
      security: [{ bearer: [] }],
      'x-gw-middlewares': [{ name: 'jwt-auth', config: { issuer: issuer.url, public_key: issuer.publicKey } }],
    }),
  };
  for (let i = 0; i < MANY; i++) {
    paths[`/many/${i}`] = get(`many_${i}`, null, { 'x-gw-dispatch': { name: 'mock', config: {} } });
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Shop', version: '1' },
    'x-gw-mcp': { enabled: true },
    components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
    paths,
  };
}

/** Calls of `slow` are answered by nobody; `slow-calls` says how many have come, and how many have ended. */
function startShop() {
  const slow = { begun: 0, ended: 0 };
  return startUpstream((request, response) => {
    const { url = '' } = request;
    const json = (value: unknown, status = 200) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(value));
    };
    if (url === '/slow') {
      slow.begun++;
      response.on('close', () => slow.ended++);
    } else if (url === '/cover') response.writeHead(200, { 'content-type': 'image/png' }).end(COVER);
    else if (url === '/slow-calls') json(slow);
    else if (url === '/book') json({ title: 'Cosmos' });
    else if (url === '/books') json([{ title: 'Cosmos' }]);
    else if (url === '/mine') json({ yours: true });
    else json({ error: 'there is none' }, 404);
  });
}

interface Issuer {
  readonly url: string;
  readonly publicKey: string;
  /** The one that tokens are given for (RFC 8707). */
  resource: string;
  close(): Promise<void>;
}

/** An authorization server with the grant of client credentials (RFC 6749, section 4.4; RFC 8414). */
async function startIssuer(): Promise<Issuer> {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const server = createServer((request, response) => {
    const answer = (status: number, value: object) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(value));
    };
    if (request.url === '/token') {
      void formOf(request).then((form) => {
        const { id, secret } = CREDENTIALS;
        const basic = `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
        const isKnown =
          request.headers.authorization === basic ||
          (form.get('client_id') === id && form.get('client_secret') === secret);
        const isGranted = form.get('grant_type') === 'client_credentials' && form.get('resource') === issuer.resource;
        if (!isKnown || !isGranted) return answer(400, { error: isKnown ? 'invalid_target' : 'invalid_client' });
        const token = tokenOf(issuer, privateKey);
        answer(200, { access_token: token, token_type: 'Bearer', expires_in: 600 });
      });
    } else if (request.url === '/.well-known/oauth-authorization-server') {
      answer(200, {
        issuer: issuer.url,
        authorization_endpoint: `${issuer.url}/authorize`,
        token_endpoint: `${issuer.url}/token`,
        response_types_supported: ['code'],
        grant_types_supported: ['client_credentials'],
        token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
        code_challenge_methods_supported: ['S256'],
      });
    } else answer(404, {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer: Issuer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    resource: '',
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
  return issuer;
}

async function formOf(request: IncomingMessage): Promise<URLSearchParams> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return new URLSearchParams(Buffer.concat(chunks).toString());
}

function tokenOf({ url, resource }: Issuer, key: KeyObject): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = { iss: url, aud: resource, sub: CREDENTIALS.id, exp: Math.floor(Date.now() / 1000) + 600 };
  const text = `${part({ alg: 'RS256', typ: 'JWT' })}.${part(claims)}`;
  return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`;
}
