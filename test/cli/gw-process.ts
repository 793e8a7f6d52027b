/** Runs `gw` in a process of its own, and keeps what it did: for what depends on the real environment. */
import { spawn } from 'node:child_process';
import { GW } from '../programs/gw.ts';
import { programEnv } from '../programs/program.ts';
import type { CapturedRun } from './captured-run.ts';

/** Without waiting in the event loop, so that servers of the test answer meanwhile. */
export function runGw(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<CapturedRun> {
  const child = spawn(process.execPath, [GW, ...args], {
    env: { ...programEnv(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code: code ?? undefined, stdout, stderr }));
  });
}
