/** The control plane's part of README.md, run as it is written. */
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { freePort } from '../free-port.ts';
import { GW } from '../programs/gw.ts';
import { GW_CONTROL } from '../programs/gw-control.ts';
import { OPENSSL } from '../serve/http.ts';

const root = join(import.meta.dirname, '..', '..');

/** The lines behind `$ `, with those that go on. */
function commandsOf(heading: string): string {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const section = readme.slice(readme.indexOf(`## ${heading}\n`));
  const [, block = ''] = /```console\n(.*?)```/s.exec(section) ?? [];
  return [...block.matchAll(/^\$ ((?:.*\\\n)*.*)$/gm)].map(([, command]) => command).join('\n');
}

const TOOLS = OPENSSL && ['bash', 'curl'].every((name) => spawnSync(name, ['--version']).status === 0);

it.skipIf(!TOOLS && process.env['GW_NO_SKIP'] !== '1')(
  'leads from nothing to a gateway that serves what the control plane deployed (needs bash, curl, openssl)',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gw-readme-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const bin = join(folder, 'bin');
    mkdirSync(bin);
    for (const [name, main] of [
      ['gw', GW],
      ['gw-control', GW_CONTROL],
    ] as const) {
      writeFileSync(join(bin, name), `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`);
      chmodSync(join(bin, name), 0o755);
    }
    const [control, gateway] = [await freePort(), await freePort()];
    const commands = commandsOf('From a control plane')
      .replaceAll(':9090', `:${control}`)
      .replaceAll(':8080', `:${gateway}`);
    expect(commands).toContain('--cache-dir');
    const shell = spawn('bash', ['-euo', 'pipefail', '-c', `trap 'kill $(jobs -p); wait' EXIT\n${commands}`], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: `${bin}:${process.env['PATH']}`,
        HOME: folder,
        GW_CONTROL_LISTEN: `127.0.0.1:${control}`,
        GW_CONTROL_ADMIN_BIND: 'off',
        GW_CONTROL_SERVER: `http://127.0.0.1:${control}`,
        GW_LISTEN: `127.0.0.1:${gateway}`,
        GW_ADMIN_BIND: 'off',
      },
    });
    const [said, complained, code] = await Promise.all([
      text(shell.stdout),
      text(shell.stderr),
      new Promise((resolve) => shell.once('close', resolve)),
    ]);
    expect([code, complained]).toEqual([0, expect.any(String)]);
    expect(said).toContain('{"status":"healthy"');
    expect(said.trimEnd()).toMatch(/\{"status":"ok"\}$/);
  },
);
