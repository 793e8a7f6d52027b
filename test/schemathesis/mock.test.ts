/**
 * schemathesis with positive data against `gw dev --mock` on real documents: no mocked answer has a status, content type
 * or body that its document does not allow. A hundred operations of each document, spread over it.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SEED } from '../property-runs.ts';
import { startDev } from '../serve/dev-server.ts';

const OPERATIONS = 100;
const CHECKS = 'not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance';
const METHODS = ['get', 'put', 'post', 'delete', 'patch'];
/** A case that the gateway refused, since it is not what the document describes: no mocked answer. */
const REFUSED = 'urn:gw:error:validation-failed';

const folder = process.env['GW_DOCUMENTS'] ?? '';
const documents = folder === '' ? ['(no folder)'] : readdirSync(folder).filter((name) => name.endsWith('.json'));
const INSTALLED: boolean = (() => {
  try {
    return execFileSync('schemathesis', ['--version'], { encoding: 'utf8' }).includes('version');
  } catch {
    return false;
  }
})();
const skipped = folder === '' || (!INSTALLED && process.env['GW_NO_SKIP'] !== '1');

type Paths = Record<string, Record<string, { readonly operationId: string }>>;

/** Of so many operations. */
function spread(paths: Paths): readonly string[] {
  const all = Object.values(paths).flatMap((item) =>
    METHODS.flatMap((method) => (item[method] ? [item[method].operationId] : [])),
  );
  const step = Math.max(1, Math.floor(all.length / OPERATIONS));
  return all.filter((_, i) => i % step === 0).slice(0, OPERATIONS);
}

describe.skipIf(skipped)('mocked documents (need schemathesis and GW_DOCUMENTS)', () => {
  let dir = '';
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'gw-mocked-'));
  });
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  it.each(documents)('%s', { timeout: 600_000 }, async (name) => {
    const file = join(folder, name);
    const operations = spread(JSON.parse(readFileSync(file, 'utf8')).paths);
    const dev = await startDev(dir, '--mock', '--spec', file);
    try {
      const { output, code } = await schemathesis(dev.url, file, operations, dir);
      const [, cases = '0'] = /(\d+) generated/.exec(output) ?? [];
      console.log(`${name}: ${cases} cases`);
      expect(code, output.slice(-5_000)).toBeLessThanOrEqual(1);
      expect(Number(cases), output.slice(-5_000)).toBeGreaterThanOrEqual(operations.length);
      expect(wrongAnswers(output)).toEqual([]);
    } finally {
      await dev.stop();
    }
  });
});

function schemathesis(
  url: string,
  file: string,
  operations: readonly string[],
  cwd: string,
): Promise<{ output: string; code: number }> {
  const args = [
    ...['run', file, '--url', url, '--checks', CHECKS, '--mode', 'positive', '--phases', 'examples,fuzzing'],
    ...operations.flatMap((id) => ['--include-operation-id', id]),
    ...['--max-examples', '2', '--seed', String(SEED), '--continue-on-failure', '--suppress-health-check', 'all'],
  ];
  const child = spawn('schemathesis', args, { cwd, env: { ...process.env, NO_COLOR: '1' } });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk;
    });
  }
  return new Promise((resolve) => child.once('close', (code) => resolve({ output, code: code ?? -1 })));
}

/** What it found, by case, without requests that were refused. */
function wrongAnswers(output: string): readonly string[] {
  return output
    .split(/\n(?=\d+\. Test Case ID:)/)
    .slice(1)
    .filter((found) => !found.includes(REFUSED));
}
