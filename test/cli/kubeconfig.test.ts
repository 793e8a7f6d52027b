import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { GW_OPERATOR } from '../programs/gw-operator.ts';

const home = mkdtempSync(join(tmpdir(), 'gw-kubeconfig-'));
afterAll(() => rmSync(home, { recursive: true }));

function status(env: Readonly<Record<string, string>>, ...flags: string[]) {
  const args = [GW_OPERATOR, 'kubectl', 'status', ...flags];
  const run = spawnSync(process.execPath, args, { env: { PATH: process.env['PATH'] ?? '', HOME: home, ...env } });
  return { code: run.status, stdout: run.stdout.toString(), stderr: run.stderr.toString() };
}

describe('kubectl gw without a usable kubeconfig', () => {
  const broken = join(home, 'broken');
  writeFileSync(broken, 'clusters: [');

  it.each([
    ['none', {}, [], 'there is no kubeconfig: set KUBECONFIG, give --kubeconfig FILE, or create ~/.kube/config'],
    [
      'a variable that names no file',
      { KUBECONFIG: '/gone' },
      [],
      'cannot read the kubeconfig /gone: there is no such file;',
    ],
    [
      'a flag that names no file',
      {},
      ['--kubeconfig', '/gone'],
      'cannot read the kubeconfig /gone: there is no such file;',
    ],
    ['a file that is not one', {}, ['--kubeconfig', broken], `cannot read the kubeconfig ${broken}: `],
  ])('%s: one error says what to do, and the exit code is 1', (_, env, flags, message) => {
    const { code, stdout, stderr } = status(env, ...flags);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr.startsWith(`gw-operator: ${message}`), stderr).toBe(true);
    expect(stderr).toMatch(/set KUBECONFIG/);
  });
});
