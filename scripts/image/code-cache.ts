/** Has `gw` of a folder serve an API with the most frequent plugins, and keeps the code that V8 has compiled by then. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';

const key = { name: 'apikey-auth', config: { keys: [{ key: 'warm-up', id: 'warm-up', name: 'warm-up' }] } };
const rate = { name: 'rate-limit', config: { quota: 1_000, window: 60 } };
const cors = { name: 'cors', config: { allowed_origins: ['https://example.com'] } };
const mock = { name: 'mock', config: { body: '{"ok":true}' } };
/** Nothing listens there: the gateway answers 502. */
const proxy = { name: 'http-upstream', config: { url: 'http://127.0.0.1:1' } };
const schema = { type: 'object', required: ['name'], properties: { name: { type: 'string', maxLength: 9 } } };

function operation(dispatch: object, middlewares: readonly object[] = [], more: object = {}) {
  const secured = middlewares.includes(key) ? { security: [{ key: [] }] } : {};
  const responses = { 200: { description: 'OK' } };
  return { responses, ...secured, 'x-gw-middlewares': middlewares, 'x-gw-dispatch': dispatch, ...more };
}

const document = {
  openapi: '3.1.0',
  info: { title: 'Warm-up', version: '1' },
  components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-API-Key' } } },
  paths: {
    '/mock': { get: operation(mock) },
    '/proxy': { get: operation(proxy) },
    '/guarded': { get: operation(mock, [key, rate, cors]) },
    '/things/{id}': {
      post: operation(mock, [], {
        parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }],
        requestBody: { required: true, content: { 'application/json': { schema } } },
      }),
    },
  },
};
const PLUGINS = ['mock', 'http-upstream', 'apikey-auth', 'rate-limit', 'cors'];

/** Flags and caches of this process are not those of the image: V8 would refuse the code there. */
function plainEnv(): NodeJS.ProcessEnv {
  const { PATH, HOME } = process.env;
  return { PATH, HOME };
}

export async function writeCodeCache(folder: string): Promise<void> {
  const project = await mkdtemp(join(tmpdir(), 'gw-warm-up-'));
  const artifact = join(project, 'api.gwa');
  try {
    await mkdir(join(project, 'specs'));
    await writeFile(join(project, 'specs', 'api.json'), JSON.stringify(document));
    const manifest = join(project, 'gw.yaml');
    await writeFile(manifest, `specs: specs\nplugins:\n${PLUGINS.map((name) => `  ${name}: {}\n`).join('')}`);
    const compile = ['compile', '-m', manifest, '-o', artifact, '--allow-plaintext'];
    await promisify(execFile)(process.execPath, [join(folder, 'gw.js'), ...compile], { env: plainEnv() });
    await warmUp(folder, artifact);
  } finally {
    await rm(project, { recursive: true, force: true });
  }
}

async function warmUp(folder: string, artifact: string): Promise<void> {
  const serve = ['serve', '--artifact', artifact, '--listen', '127.0.0.1:0', '--admin-bind', '127.0.0.1:0'];
  const open = ['--allow-plaintext-upstream', '--egress-allow', '127.0.0.1'];
  const program = join(import.meta.dirname, 'warm-up.ts');
  const gw = spawn(process.execPath, [program, folder, ...serve, ...open], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    env: plainEnv(),
  });
  const ended = once(gw, 'exit');
  for await (const line of createInterface({ input: gw.stdout ?? Readable.from([]) })) {
    const { msg, listen, admin } = JSON.parse(line);
    if (msg !== 'serving') continue;
    await requestEach(`http://${listen}`, `http://${admin}`);
    gw.send('warm');
    break;
  }
  const [code] = await ended;
  if (code !== 0) throw new Error(`the code of gw is not kept: the program ended with ${code}, see above`);
}

async function requestEach(url: string, admin: string): Promise<void> {
  const headers = { 'X-API-Key': 'warm-up', Origin: 'https://example.com' };
  for (const path of ['/mock', '/proxy', '/guarded', '/missing']) {
    await (await fetch(url + path, { headers })).arrayBuffer();
  }
  const json = { 'Content-Type': 'application/json' };
  for (const body of ['{"name":"one"}', '{}']) {
    await (await fetch(`${url}/things/1`, { method: 'POST', headers: json, body })).arrayBuffer();
  }
  for (const path of ['/health', '/ready']) await (await fetch(admin + path)).arrayBuffer();
}
