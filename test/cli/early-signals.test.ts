/**
 * A program ends at the first signal until a command has something to finish, also while it is still being loaded. Without
 * a handler of its own, a container's first process would not hear the signal: a pod that is deleted as it starts would
 * stay for its whole grace period.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GW } from '../programs/gw.ts';
import { GW_CONTROL } from '../programs/gw-control.ts';
import { GW_OPERATOR } from '../programs/gw-operator.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const DIGEST = `sha256:${'0'.repeat(64)}`;

describe('a signal while a program waits for a server that does not answer', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gw-early-signals-'));
  let silent: Server;
  let address = '';
  beforeAll(async () => {
    silent = createServer(() => {}).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    address = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
    writeFileSync(
      join(folder, 'gw.yaml'),
      `plugins:\n  far: { url: 'http://${address}/far.wasm', sha256: '${'0'.repeat(64)}' }\n`,
    );
    writeFileSync(join(folder, 'api.yaml'), `openapi: 3.1.0\ninfo: { title: Shop, version: '1' }\npaths: {}\n`);
  });
  afterAll(() => {
    silent.closeAllConnections();
    silent.close();
    rmSync(folder, { recursive: true });
  });

  const commands: Readonly<Record<string, () => readonly string[]>> = {
    gw: () => [GW, 'compile', '-m', 'gw.yaml', '-s', 'api.yaml', '-o', 'api.gwa', '--allow-plaintext', '--no-cache'],
    'gw-control': () => [GW_CONTROL, 'specs', 'list', '--server', `http://${address}`, '--project', 'shop'],
    'gw-operator': () => [GW_OPERATOR, 'fetch', `${address}/shop@${DIGEST}`, '.', '--plain-http-registry', address],
  };
  it.each(Object.keys(commands).flatMap((name) => [[name, 'SIGTERM', 143] as const, [name, 'SIGINT', 130] as const]))(
    '%s ends at %s with %i',
    async (name, signal, expected) => {
      const child = spawn(process.execPath, commands[name]?.() ?? [], {
        cwd: folder,
        env: { PATH: process.env['PATH'], GW_EGRESS_ALLOW: '127.0.0.1', GW_TOKEN: 'gw_test', HOME: folder },
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      let errors = '';
      child.stderr.on('data', (chunk) => {
        errors += chunk;
      });
      const exited = once(child, 'exit').then(([code]) => code);
      expect(await Promise.race([once(silent, 'request').then(() => 'asked'), exited]), errors).toBe('asked');
      child.kill(signal);
      expect(await exited, errors).toBe(expected);
    },
  );
});

it.each(['gateway', 'control', 'operator'])('%s imports nothing before it listens for signals', (workspace) => {
  const source = readFileSync(join(ROOT, workspace, 'src', 'main.ts'), 'utf8');
  const imports = [...source.matchAll(/^import (?!type ).* from '(.*)';$/gm)].map(([, from]) => from);
  expect(imports).toEqual([expect.stringMatching(/\/early-signals(\.ts)?$/)]);
});
