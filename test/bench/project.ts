/** The API that is measured: each operation adds one thing to the one before it. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const BODY = '{"id":42,"title":"The Left Hand of Darkness","author":"Ursula K. Le Guin","price":12.5,"in_stock":true}';
const key = {
  name: 'apikey-auth',
  config: { keys: [{ key: 'bench-key', id: 'bench', name: 'bench', scopes: ['read'] }] },
};
const rate = { name: 'rate-limit', config: { quota: 1_000_000_000, window: 60 } };
const cors = { name: 'cors', config: { allowed_origins: ['https://shop.example'] } };
const mock = { name: 'mock', config: { body: BODY } };

function operation(dispatch: object, middlewares: object[] = [], more: object = {}) {
  const secured = middlewares.includes(key) ? { security: [{ key: [] }] } : {};
  return {
    responses: { 200: { description: 'OK' } },
    'x-gw-dispatch': dispatch,
    ...(middlewares.length > 0 ? { 'x-gw-middlewares': middlewares } : {}),
    ...secured,
    ...more,
  };
}

/** Writes gw.yaml and the spec; the upstream answers at `upstream`. */
export function writeProject(dir: string, upstream: string): void {
  const proxy = { name: 'http-upstream', config: { url: upstream } };
  const order = {
    type: 'object',
    required: ['customer', 'items'],
    additionalProperties: false,
    properties: {
      customer: { type: 'string', minLength: 1, maxLength: 64 },
      email: { type: 'string', format: 'email' },
      items: {
        type: 'array',
        minItems: 1,
        items: {
          type: 'object',
          required: ['book', 'count'],
          properties: { book: { type: 'integer' }, count: { type: 'integer', minimum: 1, maximum: 99 } },
        },
      },
    },
  };
  const requestBody = { required: true, content: { 'application/json': { schema: order } } };
  const spec = {
    openapi: '3.1.0',
    info: { title: 'Bench', version: '1' },
    components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-API-Key' } } },
    paths: {
      '/mock': { get: operation(mock) },
      '/mock-key': { get: operation(mock, [key]) },
      '/mock-rate': { get: operation(mock, [rate]) },
      '/mock-cors': { get: operation(mock, [cors]) },
      '/proxy': { get: operation(proxy) },
      '/guarded': { get: operation(proxy, [key, rate, cors]) },
      '/orders': { post: operation(mock, [], { requestBody }) },
    },
  };
  mkdirSync(join(dir, 'specs'), { recursive: true });
  writeFileSync(join(dir, 'specs', 'bench.json'), JSON.stringify(spec));
  const plugins = ['mock', 'http-upstream', 'apikey-auth', 'rate-limit', 'cors'].map((name) => `  ${name}: {}\n`);
  writeFileSync(join(dir, 'gw.yaml'), `specs: specs\nplugins:\n${plugins.join('')}`);
  const post = {
    customer: 'Ada Lovelace',
    email: 'ada@example.org',
    items: [
      { book: 42, count: 2 },
      { book: 7, count: 1 },
    ],
  };
  writeFileSync(
    join(dir, 'post.lua'),
    `wrk.method = "POST"\nwrk.headers["Content-Type"] = "application/json"\nwrk.body = [[${JSON.stringify(post)}]]\n`,
  );
}

/** nginx as the upstream, and as the proxy that is the control; one worker each. */
export function nginxConfig(dir: string, listen: number, location: string, upstream = ''): string {
  return `daemon off; master_process off; worker_processes 1; pid ${dir}/nginx-${listen}.pid; error_log ${dir}/nginx-${listen}.log error;
events { worker_connections 4096; }
http {
  access_log ${upstream === '' ? 'off' : `${dir}/access-${listen}.log`}; keepalive_requests 100000000; default_type application/json;
  client_body_temp_path ${dir}/t; proxy_temp_path ${dir}/t; fastcgi_temp_path ${dir}/t; uwsgi_temp_path ${dir}/t; scgi_temp_path ${dir}/t;
  ${upstream}
  server { listen 127.0.0.1:${listen}; location / { ${location} } }
}
`;
}

export { BODY };
