/**
 * Real API descriptions: every operation given a mock, compiled by `gw compile` and served. `GW_DOCUMENTS` names a
 * folder of OpenAPI documents in JSON. Figures are printed, not judged.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../free-port.ts';
import { type Document, withMocks } from '../mocked-document.ts';
import { GW } from '../programs/gw.ts';

const folder = process.env['GW_DOCUMENTS'] ?? '';
const files = folder === '' ? ['(no folder)'] : readdirSync(folder).filter((name) => name.endsWith('.json'));

describe.skipIf(folder === '')('real documents (needs GW_DOCUMENTS)', () => {
  let dir = '';
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'gw-documents-'));
  });
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  it.each(files)('%s compiles and serves', async (name) => {
    const project = join(dir, basename(name, '.json'));
    mkdirSync(join(project, 'specs'), { recursive: true });
    const document: Document = JSON.parse(readFileSync(join(folder, name), 'utf8'));
    const { operations, path } = withMocks(document);
    writeFileSync(join(project, 'specs', name), JSON.stringify(document));
    writeFileSync(join(project, 'gw.yaml'), 'specs: specs\nplugins:\n  mock: {}\n');
    const artifact = join(project, 'api.gwa');

    const compiling = performance.now();
    execFileSync(process.execPath, [GW, 'compile', '-m', join(project, 'gw.yaml'), '-o', artifact], {
      stdio: 'pipe',
    });
    const compiled = performance.now() - compiling;

    const port = await freePort();
    const started = performance.now();
    const child = spawn(
      process.execPath,
      [GW, 'serve', '--artifact', artifact, '--listen', `127.0.0.1:${port}`, '--admin-bind', 'off'],
      { stdio: 'ignore' },
    );
    const exited = new Promise((resolve) => child.once('exit', resolve));
    try {
      let health: Response | null = null;
      while (health === null && child.exitCode === null) {
        health = await fetch(`http://127.0.0.1:${port}/__gw/health`).catch(() => null);
      }
      const answered = performance.now() - started;
      expect(await health?.json()).toMatchObject({ routes_count: operations });
      if (path !== '') {
        const response = await fetch(`http://127.0.0.1:${port}${path}`);
        expect([response.status, await response.text()]).toEqual([200, '{"from":"mock"}']);
      }
      const status = process.platform === 'linux' ? readFileSync(`/proc/${child.pid}/status`, 'utf8') : '';
      const resident = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
      const size = (statSync(join(project, 'specs', name)).size / 1e6).toFixed(1);
      console.log(
        `${name}: ${operations} operations, ${size} MB: compiled in ${compiled.toFixed(0)} ms, first answer ${answered.toFixed(0)} ms after start, ${resident.toFixed(0)} MB resident (unbuilt)`,
      );
    } finally {
      child.kill('SIGTERM');
      await exited;
    }
  });
});
