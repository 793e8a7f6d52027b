/**
 * Real API descriptions through two doors: compiled over REST and by `gw compile`, they have one artifact_hash.
 * `GW_DOCUMENTS` names a folder of OpenAPI documents in JSON. Figures are printed, not judged.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Document, withMocks } from '../mocked-document.ts';
import { compiled, hashByCommandLine, uploadSpec } from './compiling.ts';
import { type ControlServer, startControl } from './server.ts';

const folder = process.env['GW_DOCUMENTS'] ?? '';
const files = folder === '' ? ['(no folder)'] : readdirSync(folder).filter((name) => name.endsWith('.json'));

describe.skipIf(folder === '')('real documents over REST (needs GW_DOCUMENTS)', () => {
  let dir: string;
  let server: ControlServer;
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'gw-documents-'));
    server = await startControl({ args: ['--admin-bind', 'off'] });
  });
  afterAll(async () => {
    await server?.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  it.each(files)('%s has the artifact_hash of gw compile', async (name) => {
    const document: Document = JSON.parse(readFileSync(join(folder, name), 'utf8'));
    const { operations } = withMocks(document);
    const text = JSON.stringify(document);
    const project = join(dir, basename(name, '.json'));
    mkdirSync(join(project, 'specs'), { recursive: true });
    writeFileSync(join(project, 'specs', name), text);
    writeFileSync(join(project, 'gw.yaml'), 'specs: specs\nplugins:\n  mock: {}\n');

    const began = performance.now();
    const spec = await uploadSpec(server, name, text);
    const uploaded = performance.now();
    const done = await compiled(server, `/specs/${spec}`);
    const ended = performance.now();
    expect(done).toMatchObject({ status: 'succeeded', attempts: 1 });
    expect(await server.get(`/artifacts/${done.artifact_id}`)).toMatchObject({ routes_count: operations });
    expect(done.artifact_hash).toBe(await hashByCommandLine(join(project, 'gw.yaml')));
    const ms = (from: number, to: number) => Math.round(to - from);
    process.stdout.write(
      `${name}: ${operations} operations, uploaded in ${ms(began, uploaded)} ms, compiled in ${ms(uploaded, ended)} ms\n`,
    );
  });
});
