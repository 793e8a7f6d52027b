/**
 * Twenty documents on their whole way by REST, and the small ones by commands: uploaded, compiled, deployed, revised, compiled and
 * deployed again, rolled back; broken ones refused with their codes. Four of them are real where GW_DOCUMENTS is set.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { asyncTemplateSpec, templateSpec } from '@gw/gateway/starter';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OutcomeFailure } from '../../control/src/cli/failure.ts';
import { controlCommand } from '../../control/src/cli/gw-control.ts';
import { ApiError } from '../../control/src/client/api-error.ts';
import type { Compilation } from '../../control/src/modules/compilations/schemas.ts';
import type { Deployment } from '../../control/src/modules/deployments/schemas.ts';
import type { SpecUpload } from '../../control/src/modules/specs/schemas.ts';
import { type Document, withMocks } from '../mocked-document.ts';
import { compiled, createProject, hashByCommandLine, specOf } from './compiling.ts';
import { ADMIN_TOKEN, type ControlServer, startControl } from './server.ts';

/** One way to use the control plane; what is refused throws with the codes in its text. */
interface Door {
  push(file: string): Promise<SpecUpload>;
  compile(): Promise<Compilation>;
  deploy(artifact: string): Promise<Pick<Deployment, 'status' | 'artifact_id'>>;
  rollback(): Promise<Pick<Deployment, 'status' | 'artifact_id'>>;
}

const PLUGINS = ['mock', 'http-upstream', 'apikey-auth', 'rate-limit', 'cors'];
const FIXTURES = join(import.meta.dirname, '..', 'fixtures', 'specs');
const REAL = process.env['GW_DOCUMENTS'] ?? '';
const chained = `openapi: 3.1.0
info: { title: Chained, version: "1" }
paths:
  /a:
    get:
      x-gw-middlewares: [{ name: rate-limit, config: { quota: 5, window: 60 } }]
      x-gw-dispatch: { name: mock, config: { body: "{}" } }
`;
const json30 = JSON.stringify({
  openapi: '3.0.3',
  info: { title: 'JSON', version: '1' },
  paths: { '/a': { get: { responses: { 200: { description: 'OK' } }, 'x-gw-dispatch': { name: 'mock' } } } },
});

type Named = readonly [file: string, text: () => string];

/** By file name; each has its version as `version: "1"`, `"version":"1"` or the like. */
const LARGE: readonly Named[] = (REAL === '' ? [] : readdirSync(REAL))
  .filter((name) => name.endsWith('.json'))
  .map((name) => [name, () => mocked(readFileSync(join(REAL, name), 'utf8'))]);
const GOOD: readonly Named[] = [
  ['started.yaml', () => templateSpec('basic', 'started')],
  ['started-async.yaml', () => asyncTemplateSpec('started')],
  ['json.json', () => json30],
  ['chained.yml', () => chained],
  ['many.yaml', () => specOf(200)],
  ['newest.yaml', () => specOf(3).replace('openapi: 3.1.0', 'openapi: 3.2.0')],
  ['commented.yaml', () => `# kept\n${specOf(2)}`],
];
const BROKEN = [
  'E1001-swagger.yaml',
  'E1002-indentation.yaml',
  'E1002-duplicate-key.yaml',
  'E1004-no-info.yaml',
  'E1003-nothing-there.yaml',
  'E1010-names-of-parameters.yaml',
  'E1022-greedy-in-the-middle.yaml',
  'E1030-required.yaml',
  'E1040-undeclared.yaml',
];

let server: ControlServer;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gw-journeys-'));
  server = await startControl({ args: ['--allow-plaintext'] });
});
afterAll(async () => {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

// Commands send and show what REST takes and answers: large documents are no other case there.
const DOORS: readonly (readonly [name: string, open: (project: string) => Door, documents: readonly Named[]])[] = [
  ['REST', byRest, [...LARGE, ...GOOD]],
  ['commands', byCommands, GOOD],
];

describe.each(DOORS)('by %s', (_name, open, documents) => {
  it.each(documents)('%s is uploaded, compiled, deployed, revised, and rolled back', async (name, text) => {
    const door = open(await project());
    const file = join(folder, name);
    writeFileSync(file, text());
    expect(await door.push(file)).toMatchObject({ revision: 1 });
    const first = await door.compile();
    expect(first).toMatchObject({ status: 'succeeded', artifact_hash: await hashOf(name, text()) });
    expect(await door.deploy(first.artifact_id ?? '')).toMatchObject({ status: 'succeeded' });
    expect(await door.push(file)).toMatchObject({ revision: 1 });

    writeFileSync(file, revised(text()));
    expect(await door.push(file)).toMatchObject({ revision: 2 });
    const second = await door.compile();
    expect(second.artifact_hash).not.toBe(first.artifact_hash);
    expect(await door.deploy(second.artifact_id ?? '')).toMatchObject({ status: 'succeeded' });
    expect(await door.rollback()).toMatchObject({ status: 'succeeded', artifact_id: first.artifact_id });
  });

  it.each(BROKEN)('%s is refused with its code', async (name) => {
    const door = open(await project());
    const code = name.slice(0, 5);
    const refusal = await door.push(join(FIXTURES, 'errors', name)).then(
      async () => JSON.stringify(await door.compile()),
      (error: unknown) => String(error),
    );
    expect(refusal).toContain(code);
  });
});

it('is tried with twenty documents', () => {
  expect(LARGE.length + GOOD.length + BROKEN.length).toBe(REAL === '' ? 16 : 20);
});

async function project(): Promise<string> {
  const id = await createProject(server);
  const all = await server.get<readonly { name: string; version: string }[]>('/plugins?limit=200');
  for (const name of PLUGINS) {
    const json = { plugin_name: name, plugin_version: all.find((each) => each.name === name)?.version };
    await server.get(`/projects/${id}/plugins`, { method: 'POST', json });
  }
  return id;
}

function byRest(id: string): Door {
  const post = <T>(path: string, json: object) => server.get<T>(`/projects/${id}${path}`, { method: 'POST', json });
  const ended = async ({ deployment_id }: Deployment): Promise<Deployment> => {
    for (;;) {
      const now = await server.get<Deployment>(`/projects/${id}/deployments/${deployment_id}`);
      if (now.status !== 'in_progress') return now;
    }
  };
  return {
    push: (file) => {
      const body = new FormData();
      body.append('file', new Blob([readFileSync(file)]), file.split('/').at(-1) ?? '');
      return server.get<SpecUpload>(`/projects/${id}/specs`, { method: 'POST', body });
    },
    compile: () => compiled(server, `/projects/${id}`),
    deploy: async (artifact_id) => ended(await post('/deploy', { artifact_id })),
    rollback: async () => ended(await post('/rollback', {})),
  };
}

function byCommands(id: string): Door {
  async function run<T>(...args: string[]): Promise<T> {
    let output = '';
    const command = controlCommand({
      env: { GW_CONTROL_TOKEN: ADMIN_TOKEN, GW_CONTROL_CONFIG: join(folder, 'no-contexts.yaml') },
      output: new PassThrough(),
      stdin: async () => Buffer.alloc(0),
      stdout: (text) => {
        output += text;
      },
      stderr: () => {},
      interactive: false,
      stopped: () => new Promise(() => {}),
    });
    const all = [...args, '--project', id, '--server', server.url, '--json'];
    try {
      await command.parseAsync(all, { from: 'user' });
    } catch (error) {
      if (error instanceof ApiError) throw new Error(JSON.stringify(error.problem));
      // A failure that was waited for is printed.
      if (!(error instanceof OutcomeFailure)) throw error;
    }
    return JSON.parse(output);
  }
  return {
    push: (file) => run('specs', 'push', file),
    compile: () => run('compile', '--wait'),
    deploy: (artifact) => run('deploy', artifact, '--wait'),
    rollback: () => run('rollback', '--wait'),
  };
}

const hashes = new Map<string, Promise<string>>();

/** Of `gw compile`, once for all doors. */
function hashOf(name: string, text: string): Promise<string> {
  const known = hashes.get(name);
  if (known) return known;
  const dir = mkdtempSync(join(folder, 'gw-'));
  mkdirSync(join(dir, 'specs'));
  writeFileSync(join(dir, 'specs', name), text);
  const plugins = PLUGINS.map((plugin) => `  ${plugin}: {}\n`).join('');
  writeFileSync(join(dir, 'gw.yaml'), `specs: specs\nplugins:\n${plugins}`);
  const hash = hashByCommandLine(join(dir, 'gw.yaml'));
  hashes.set(name, hash);
  return hash;
}

function mocked(text: string): string {
  const document: Document = JSON.parse(text);
  withMocks(document);
  return JSON.stringify(document);
}

function revised(text: string): string {
  const changed = text.replace(/("?version"?: ?"?)([0-9][^",} \n]*)/, '$1$2-revised');
  expect(changed).not.toBe(text);
  return changed;
}
