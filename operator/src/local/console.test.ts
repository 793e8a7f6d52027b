/** Local mode's control plane: what the folder says, as the console shows it. */
import { spawn } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { eventually } from '../../../test/eventually.ts';
import { GW_OPERATOR } from '../../../test/programs/gw-operator.ts';
import { freePort } from './free-port.ts';

const example = join(import.meta.dirname, '..', '..', '..', 'examples', 'bookstore');

interface Shown {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly deployed_artifact_id: string;
  readonly current_artifact_id: string;
  readonly current_artifact_hash: string;
  readonly artifact_hash: string;
}

/** The folder and its gateways stop with the test. */
async function startLocal() {
  const folder = await mkdtemp(join(tmpdir(), 'gw-console-'));
  await cp(example, folder, { recursive: true });
  const listen = `127.0.0.1:${await freePort()}`;
  const child = spawn(
    process.execPath,
    [GW_OPERATOR, 'local', folder, '--allow-commands', '--listen', listen, '--console', '127.0.0.1:0'],
    {
      env: { PATH: process.env['PATH'] ?? '' },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  onTestFinished(async () => {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    await ended;
    await rm(folder, { recursive: true, force: true });
  });
  const found = await eventually(() => {
    const match = /(http:\/\/[^/]+)\/ui\/#token=(\S+)/.exec(output);
    expect(match, output).not.toBeNull();
    return match;
  });
  const [, url = '', token = ''] = found ?? [];
  const get = async (path: string): Promise<Shown[]> => {
    const response = await fetch(url + path, { headers: { authorization: `Bearer ${token}` } });
    expect(response.status, path).toBe(200);
    return JSON.parse(await response.text());
  };
  return { folder, get, output: () => output };
}

it('has the project, its artifact by the same hash, and the gateways as data planes that serve it', async () => {
  const { folder, get, output } = await startLocal();
  const project = await eventually(async () => {
    const [found] = await get('/projects');
    expect(found).toMatchObject({ name: 'bookstore', deployed_artifact_id: expect.any(String) });
    return found?.id ?? '';
  });
  const served = async (hash: string) => {
    const [deployed] = await get(`/projects/${project}/deployments`);
    expect(deployed).toMatchObject({ status: 'succeeded', artifact_hash: hash });
    const planes = await get(`/projects/${project}/data-planes?status=connected`);
    expect(planes.map((plane) => plane.current_artifact_hash)).toEqual([hash, hash]);
  };
  const hashes = () => [...output().matchAll(/serves revision \d+, (sha256:[0-9a-f]{64})/g)].map(([, hash]) => hash);
  // Deployed by the control plane, it may not be told of yet.
  await eventually(async () => expect(hashes()).not.toEqual([]));
  await eventually(() => served(hashes()[0] ?? ''));

  const file = join(folder, '4-api-spec.yaml');
  await writeFile(file, (await readFile(file, 'utf8')).replace('summary:', 'summary: Changed,'));
  await eventually(async () => expect(new Set(hashes()).size).toBe(2));
  await eventually(() => served(hashes().at(-1) ?? ''));
});
