/** Results that a pipe does not take at once arrive whole (docs/reference/cli.md#output). */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { GW } from '../programs/gw.ts';
import { programEnv } from '../programs/program.ts';

it('writes all of a long result into a pipe before it ends', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'gw-long-output-'));
  try {
    const paths = Object.fromEntries(
      Array.from({ length: 1000 }, (_, i) => [`/path-${i}`, { get: { responses: {} } }]),
    );
    const document = { openapi: '3.1.0', info: { title: 'x', version: '1' }, paths };
    writeFileSync(join(dir, 'a.json'), JSON.stringify(document));
    const args = [GW, 'validate', join(dir, 'a.json'), '--format', 'json'];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'], env: programEnv() });
    const exited = new Promise((resolve) => child.once('exit', resolve));
    const output = await text(child.stdout);
    expect(output.length).toBeGreaterThan(65_536);
    expect(JSON.parse(output).results[0].warnings).toHaveLength(1000);
    expect(await exited).toBe(0);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});
