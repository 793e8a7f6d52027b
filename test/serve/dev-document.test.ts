/** `gw dev` with a document as it is (docs/reference/cli.md#dev): nothing is edited, and what cannot be had is said. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../eventually.ts';
import { GW } from '../programs/gw.ts';
import { programEnv } from '../programs/program.ts';

const json = (schema: object) => ({ content: { 'application/json': { schema } } });
const DOCUMENT = {
  openapi: '3.0.3',
  info: { title: 'Pets and more', version: '1' },
  servers: [{ url: 'https://api.example.com' }],
  paths: {
    '/pets': {
      get: {
        parameters: [{ name: 'limit', in: 'query', schema: { type: 'integer' } }],
        responses: { 200: { description: 'OK', ...json({ $ref: '#/components/schemas/Pet' }) } },
      },
      post: { requestBody: json({ type: 'object', required: ['name'] }), responses: { 201: { description: 'Made' } } },
    },
    '/bad': { get: { responses: { 200: { description: 'OK', ...json({ $ref: '#/components/schemas/Bad' }) } } } },
  },
  components: { schemas: { Pet: { type: 'object', example: { name: 'Rex' } }, Bad: { type: 'strin' } } },
};

describe('gw dev with a document', () => {
  let dir = '';
  let child: ChildProcess | null = null;
  let upstream: Server | null = null;
  let [stdout, stderr] = ['', ''];
  const file = (name: string) => join(dir, name);
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'gw-dev-document-'));
    writeFileSync(file('openapi.json'), JSON.stringify(DOCUMENT));
    [stdout, stderr] = ['', ''];
  });
  afterEach(async () => {
    const exited = new Promise((resolve) => child?.once('exit', resolve));
    if (child?.kill('SIGTERM')) await exited;
    child = null;
    upstream?.closeAllConnections();
    upstream?.close();
    rmSync(dir, { recursive: true, force: true });
  });

  function start(args: readonly string[], env: Record<string, string> = {}): void {
    const always = ['--listen', '127.0.0.1:0', '--admin-bind', 'off', '--debounce-ms', '20'];
    child = spawn(process.execPath, [GW, 'dev', ...args, ...always], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...programEnv(), ...env },
      cwd: dir,
    });
    child.stdout?.on('data', (chunk) => {
      stdout += chunk;
    });
    child.stderr?.on('data', (chunk) => {
      stderr += chunk;
    });
  }
  const said = (pattern: RegExp) =>
    eventually(() => {
      const match = pattern.exec(stderr);
      if (!match) throw new Error(`${pattern} is not in:\n${stderr}`);
      return match;
    });
  const served = async () => (await said(/compiled in \d+ ms; (http:\S+)/))[1] ?? '';

  it('answers with examples, and names what is left out and why', async () => {
    start(['openapi.json', '--mock']);
    const url = await served();
    await said(/2 operations answered with examples, 1 left out\n/);
    expect(stderr).toMatch(/left out, 1 of 3 operations:\n {2}GET \/bad: E1004 .*strin.*Bad/);
    expect(stderr).toContain(`curl -i ${url}/pets\n`);
    expect(stderr).toContain('gw dev openapi.json --upstream http://localhost:3000\n');
    expect(stderr).not.toContain('E1020');
    expect(await (await fetch(`${url}/pets`)).json()).toEqual({ name: 'Rex' });
    expect((await fetch(`${url}/bad`)).status).toBe(404);
    writeFileSync(file('openapi.json'), JSON.stringify(DOCUMENT).replace('"strin"', '"string"'));
    await said(/reloaded in \d+ ms: 3 routes/);
    expect((await fetch(`${url}/bad`)).status).toBe(200);
  });

  it('passes requests on to a server, and refuses what the document does not admit', async () => {
    const seen: string[] = [];
    upstream = createServer((request, response) => {
      seen.push(`${request.method} ${request.url}`);
      response.end('from upstream');
    });
    await new Promise<void>((resolve) => upstream?.listen(0, '127.0.0.1', resolve));
    const address = upstream.address();
    const port = typeof address === 'object' ? address?.port : 0;
    start(['openapi.json', '--upstream', `127.0.0.1:${port}/v1`]);
    const url = await served();
    expect(await (await fetch(`${url}/pets?limit=2`)).text()).toBe('from upstream');
    expect((await fetch(`${url}/pets?limit=two`)).status).toBe(400);
    const headers = { 'content-type': 'application/json' };
    expect((await fetch(`${url}/pets`, { method: 'POST', headers, body: '{}' })).status).toBe(400);
    expect((await fetch(`${url}/pets`, { method: 'DELETE' })).status).toBe(405);
    expect((await fetch(`${url}/bad`)).status).toBe(200);
    expect(seen).toEqual(['GET /v1/pets?limit=2', 'GET /v1/bad']);
    expect(stderr).toContain(`3 operations passed on to http://127.0.0.1:${port}/v1\n`);
  });

  it('says what to do if there is no route, and shows no address', async () => {
    start(['openapi.json']);
    await said(/E1004.*strin/);
    writeFileSync(file('openapi.json'), JSON.stringify(DOCUMENT).replace('"strin"', '"string"'));
    await said(/nothing to serve: no operation has an x-gw-dispatch\n.*gw dev openapi\.json --mock\n/);
    expect(stderr).not.toContain('http://127.0.0.1');
    expect(stderr.slice(stderr.indexOf('nothing to serve'))).not.toContain('E1020');
    const dispatch = { 'x-gw-dispatch': { name: 'redirect', config: { target: 'https://a.example/' } } };
    writeFileSync(
      file('openapi.json'),
      JSON.stringify({ ...DOCUMENT, components: { schemas: { Pet: {}, Bad: {} } }, ...dispatch }),
    );
    expect((await fetch(`${await served()}/pets`, { redirect: 'manual' })).status).toBe(302);
  });

  // docs/decisions.md#dev-secrets
  it('gives the document of somebody else no secrets', async () => {
    const telling = (a: string) => ({
      get: {
        'x-gw-middlewares': [{ name: 'http-log', config: { url: 'https://logs.example', headers: { a } } }],
        responses: { 200: { description: 'OK' } },
      },
    });
    writeFileSync(file('secret'), 'of-a-file');
    const paths = { '/a': telling('env://OWN'), '/b': telling(`file://${file('secret')}`) };
    const document = { ...DOCUMENT, paths, components: {} };
    writeFileSync(file('openapi.json'), JSON.stringify(document));
    writeFileSync(file('.env'), 'OWN=of-the-file\n');
    start(['openapi.json', '--mock'], { OWN: 'of-the-process', GW_SECRETS_DIR: dir });
    const url = await served();
    for (const path of ['/a', '/b']) expect((await fetch(url + path)).status).toBe(503);
    expect(stderr).toContain('without a manifest, a document gets no secrets under --mock and --upstream');
    writeFileSync(file('gw.yaml'), 'specs: .\nplugins: { http-log: {} }\n');
    await eventually(async () => expect((await fetch(`${url}/a`)).status).toBe(200));
  });

  // docs/decisions.md#dev-secrets
  it('serves env:// from .env, which it watches, and answers 503 where a variable is not set', async () => {
    const key = (name: string) => ({
      security: [{ key: [] }],
      'x-gw-middlewares': [{ name: 'apikey-auth', config: { keys: [{ key: `env://${name}`, id: 'a' }] } }],
      'x-gw-dispatch': { name: 'mock', config: { body: name } },
      responses: { 200: { description: 'OK' } },
    });
    const document = {
      openapi: '3.1.0',
      info: { title: 'Keys', version: '1' },
      components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-API-Key' } } },
      paths: { '/file': { get: key('FROM_FILE') }, '/own': { get: key('OWN') }, '/later': { get: key('LATER') } },
    };
    writeFileSync(file('openapi.json'), JSON.stringify(document));
    writeFileSync(file('.env'), 'FROM_FILE="key-of-the-file"\nOWN=key-of-the-file\n');
    start(['openapi.json'], { OWN: 'key-of-the-process' });
    const url = await served();
    const status = async (path: string, given: string) =>
      (await fetch(`${url}${path}`, { headers: { 'x-api-key': given } })).status;
    expect(await status('/file', 'key-of-the-file')).toBe(200);
    expect(await status('/file', 'another')).toBe(401);
    expect(await status('/own', 'key-of-the-process')).toBe(200);
    expect(await status('/own', 'key-of-the-file')).toBe(401);
    const refused = await fetch(`${url}/later`, { headers: { 'x-api-key': 'key-of-later' } });
    expect([refused.status, await refused.json()]).toEqual([
      503,
      expect.objectContaining({ type: 'urn:gw:error:not-configured', detail: expect.stringContaining('env://LATER') }),
    ]);
    await eventually(() => expect(stdout).toMatch(/env:\/\/LATER: the variable is not set.*GET \/later/));
    writeFileSync(file('.env'), 'LATER=key-of-later\n');
    await eventually(async () => expect(await status('/later', 'key-of-later')).toBe(200));
    expect(await status('/file', 'key-of-the-file')).toBe(503);
    expect(stdout).not.toContain('key-of-later');
  });

  it('asks for the credentials of the document with --mock-auth, and answers 401 as it says', async () => {
    const ok = { 200: { description: 'OK', content: { 'text/plain': { example: 'in' } } } };
    const declared = {
      401: { description: 'No', content: { 'application/json': { example: { error: 'who are you?' } } } },
    };
    const get = (security: unknown, responses: object = ok) => ({ get: { security, responses } });
    const document = {
      openapi: '3.1.0',
      info: { title: 'Guarded', version: '1' },
      security: [{ key: [] }],
      paths: {
        '/inherited': { get: { responses: { ...ok, ...declared } } },
        '/open': get([]),
        '/optional': get([{ key: [] }, {}]),
        '/either': get([{ token: [] }, { login: [] }]),
        '/both': get([{ key: [], session: [] }]),
        '/own': { get: { responses: ok, 'x-gw-dispatch': { name: 'mock', config: { body: 'own' } } } },
      },
      components: {
        securitySchemes: {
          key: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
          session: { type: 'apiKey', in: 'cookie', name: 'session' },
          token: { type: 'openIdConnect', openIdConnectUrl: 'https://login.example/' },
          login: { type: 'http', scheme: 'basic' },
        },
      },
    };
    writeFileSync(file('openapi.json'), JSON.stringify(document));
    start(['openapi.json', '--mock-auth']);
    const url = await served();
    const ask = async (path: string, headers: Record<string, string> = {}) => {
      const answer = await fetch(`${url}${path}`, { headers });
      return [answer.status, answer.headers.get('www-authenticate'), await answer.text()];
    };
    const challenge = 'ApiKey realm="api", in="header", name="X-API-Key"';
    const who = '{"error":"who are you?"}';
    expect(await ask('/inherited')).toEqual([401, challenge, who]);
    expect(await ask('/inherited', { prefer: 'code=200' })).toEqual([401, challenge, who]);
    expect(await ask('/inherited', { 'x-api-key': 'k' })).toEqual([200, null, 'in']);
    expect((await ask('/open'))[0]).toBe(200);
    expect((await ask('/optional'))[0]).toBe(200);
    expect(await ask('/either')).toEqual([
      401,
      'Bearer realm="api", Basic realm="api"',
      expect.stringContaining('urn:gw:error:unauthorized'),
    ]);
    expect((await ask('/either', { authorization: 'Bearer t' }))[0]).toBe(200);
    expect((await ask('/either', { authorization: 'Basic YTpi' }))[0]).toBe(200);
    expect((await ask('/both', { 'x-api-key': 'k' }))[0]).toBe(401);
    expect((await ask('/both', { 'x-api-key': 'k', cookie: 'session=s' }))[0]).toBe(200);
    expect((await ask('/own'))[0]).toBe(401);
    expect((await ask('/own', { 'x-api-key': 'k' }))[2]).toBe('own');
  });
});
