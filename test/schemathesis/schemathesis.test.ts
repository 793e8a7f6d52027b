/**
 * schemathesis against a running server's own OpenAPI document, all checks, with credentials. Needs `schemathesis` on the
 * path (PyPI); GW_SCHEMATHESIS_EXAMPLES says how many cases an operation gets.
 */
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DATABASE_AT_HAND, unopenedDatabase } from '../control/database.ts';
import { ADMIN_TOKEN, startControl } from '../control/server.ts';
import { LONG, SEED } from '../property-runs.ts';

const EXAMPLES = process.env['GW_SCHEMATHESIS_EXAMPLES'] ?? (LONG ? '100' : '4');
/** Least cases of a run: with fewer, something was not tried. */
const LEAST_CASES = 1_500;

const INSTALLED: boolean = (() => {
  try {
    return execFileSync('schemathesis', ['--version'], { encoding: 'utf8' }).includes('version');
  } catch {
    return false;
  }
})();

interface Outcome {
  readonly code: number;
  readonly output: string;
}

function schemathesis(url: string, folder: string): Promise<Outcome> {
  const args = [
    ...['run', 'openapi.yaml', '--url', url, '--checks', 'all', '--max-examples', EXAMPLES],
    ...['--continue-on-failure', '--seed', String(SEED), '--request-timeout', '30', '--suppress-health-check', 'all'],
  ];
  const child = spawn('schemathesis', args, {
    cwd: folder,
    env: { ...process.env, GW_TOKEN: ADMIN_TOKEN, NO_COLOR: '1' },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk;
    });
  }
  return new Promise((resolve) => child.once('close', (code) => resolve({ code: code ?? -1, output })));
}

describe.skipIf(!INSTALLED && process.env['GW_NO_SKIP'] !== '1')('schemathesis (needs schemathesis)', () => {
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'gw-schemathesis-'));
    // It looks for its settings, and leaves what it remembers, where it runs.
    for (const file of ['schemathesis.toml', 'hooks.py']) cpSync(join(import.meta.dirname, file), join(folder, file));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  for (const [name, kind, absent] of DATABASE_AT_HAND) {
    it.skipIf(absent)(`finds nothing on ${name}`, { timeout: 900_000 }, async () => {
      const database = await unopenedDatabase(kind);
      const server = await startControl({ databaseUrl: database.url });
      try {
        writeFileSync(join(folder, 'openapi.yaml'), await (await server.ask('/openapi')).text());
        const { code, output } = await schemathesis(server.url, folder);
        const [, cases = '0'] = /(\d+) generated/.exec(output) ?? [];
        console.log(
          `schemathesis on ${name}: ${/Test cases:\n.*/.exec(output)?.[0].replace('\n', '') ?? 'no summary'}`,
        );
        expect(code, output.slice(-20_000)).toBe(0);
        expect(Number(cases)).toBeGreaterThanOrEqual(LEAST_CASES);
        expect(server.log.filter(({ level }) => level === 'error')).toEqual([]);
      } finally {
        await server.stop();
        await database.drop();
      }
    });
  }
});
