/** waf through a real `gw serve` (docs/reference/plugins.md#waf). */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileSpec, type Gateway, startGateway } from '../../../../test/serve/gateway.ts';
import { startUpstream, type Upstream } from '../../../../test/serve/upstream.ts';

const INJECTION = encodeURIComponent("1' or '1'='1' -- ");
const RULES = `SecRule ARGS:json.note "@contains forbidden" "id:1001,phase:2,deny,status:406,msg:'A word',tag:'attack-words'"\n`;

let upstream: Upstream;
let gw: Gateway;

const note = { type: 'object', properties: { note: { type: 'string', maxLength: 2000 } } };
const page = { name: 'page', in: 'query', schema: { type: 'integer' } };
const file = { name: 'file', in: 'path', required: true, schema: { type: 'string' } };
const WORDPRESS = { exclusion_packages: ['wordpress'] };
const q = { name: 'q', in: 'query', schema: { type: 'string' } };

function document(url: string) {
  const operation = (config: object, more: object = {}) => ({
    responses: { 200: { description: 'OK', content: { 'text/plain': {} } } },
    'x-gw-middlewares': [{ name: 'waf', config: { rules: ['*.conf'], ...config } }],
    'x-gw-dispatch': { name: 'http-upstream', config: { url } },
    ...more,
  });
  const withBody = { requestBody: { content: { 'application/json': { schema: note } } } };
  const forms = (config: object) => ({
    post: operation(config, { requestBody: { content: { 'application/x-www-form-urlencoded': {} } } }),
  });
  return {
    openapi: '3.1.0',
    info: { title: 'Books', version: '1' },
    paths: {
      '/books': { get: operation({}, { parameters: [q, page] }) },
      '/detected': { get: operation({ mode: 'detect' }, { parameters: [q, page] }) },
      '/excluded': { get: operation({ exclusions: [{ parameters: ['query:q'] }] }, { parameters: [q] }) },
      ...Object.fromEntries(
        [1, 2].flatMap((paranoia_level) => [
          [`/plain-${paranoia_level}/{file}`, { parameters: [file], ...forms({ paranoia_level }) }],
          [`/wordpress-${paranoia_level}/{file}`, { parameters: [file], ...forms({ paranoia_level, ...WORDPRESS }) }],
        ]),
      ),
      '/notes': { post: operation({ request_body: { max_bytes: 1024 } }, withBody) },
    },
  };
}

beforeAll(async () => {
  upstream = await startUpstream((_, response) => {
    response.setHeader('content-type', 'text/plain');
    response.end('fine');
  });
  const api = document(upstream.url);
  const files = [
    { name: 'api.json', bytes: Buffer.from(JSON.stringify(api)) },
    { name: 'words.conf', bytes: Buffer.from(RULES) },
  ];
  gw = await startGateway(await compileSpec(api, ['waf', 'http-upstream'], [], {}, { files }));
});
afterAll(async () => {
  await gw?.stop();
  await upstream?.close();
});

const HEADERS = { 'user-agent': 'Mozilla/5.0', accept: '*/*' };

async function get(path: string): Promise<number> {
  return (await fetch(gw.url + path, { headers: HEADERS })).status;
}

async function post(body: string, type = 'application/json'): Promise<number> {
  const headers = { ...HEADERS, 'content-type': type };
  return (await fetch(`${gw.url}/notes`, { method: 'POST', headers, body })).status;
}

describe('waf', () => {
  it('refuses an injection, and lets what is harmless pass', async () => {
    expect(await get('/books?q=history%20of%20computing&page=2')).toBe(200);
    const refused = await fetch(`${gw.url}/books?q=${INJECTION}`, { headers: HEADERS });
    expect(refused.status).toBe(403);
    const problem = await refused.json();
    expect(problem).toMatchObject({ type: 'urn:gw:error:request-denied' });
    // Rules would help an attacker: only --dev names them.
    expect(problem).not.toHaveProperty('rules');
  });

  it('inspects before parameters are validated', async () => {
    expect(await get(`/books?page=${INJECTION}`)).toBe(403);
    expect(await get('/books?page=two')).toBe(400);
  });

  it('lets everything pass in mode detect, and logs what it would refuse', async () => {
    expect(await get(`/detected?q=${INJECTION}`)).toBe(200);
    const line = await gw.logged(({ route, waf }) => route === '/detected' && waf !== undefined);
    expect(line).toMatchObject({ waf: { outcome: 'would-deny', rule: 949110 } });
  });

  it('does not inspect excluded parameters', async () => {
    expect(await get(`/excluded?q=${INJECTION}`)).toBe(200);
  });

  it('inspects bodies before they are validated, and not beyond their limit', async () => {
    const before = upstream.seen.length;
    expect(await post('{"note":"see you at five"}')).toBe(200);
    expect(await post('{"note":"a forbidden word"}')).toBe(406);
    expect(await post(`{"note":"${decodeURIComponent(INJECTION)}"}`)).toBe(403);
    expect(await post(`{"note":"${'x'.repeat(2000)}"}`)).toBe(413);
    expect(upstream.seen.slice(before).map(({ body }) => body)).toEqual(['{"note":"see you at five"}']);
  });

  it.each([1, 2])('lets the requests of an application pass with its exclusion package, at level %i', async (level) => {
    const password = new URLSearchParams({
      log: 'jane',
      pwd: "1' or '1'='1' -- ;cat /etc/passwd",
      'wp-submit': 'Log In',
    });
    const login = async (path: string) => {
      const headers = { ...HEADERS, 'content-type': 'application/x-www-form-urlencoded' };
      return (await fetch(gw.url + path, { method: 'POST', headers, body: password })).status;
    };
    expect(await login(`/plain-${level}/wp-login.php`)).toBe(403);
    expect(await login(`/wordpress-${level}/wp-login.php`)).toBe(200);
    // Elsewhere, the package changes nothing.
    expect(await login(`/wordpress-${level}/books.php`)).toBe(403);
  });
});
