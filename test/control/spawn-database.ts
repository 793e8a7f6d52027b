/** Starts database-process.ts. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';

const SCRIPT = join(import.meta.dirname, 'database-process.ts');

export interface DatabaseProcess {
  readonly pid: number;
  /** What it has said so far. */
  readonly lines: readonly string[];
  /** Resolves when it has said as many lines. */
  said(lines: number): Promise<void>;
  kill(): void;
  readonly exited: Promise<{ code: number | null; stderr: string; lines: readonly string[] }>;
}

/** It is killed at the end of the test. */
export function databaseProcess(url: string, task: 'migrate' | 'hold' | 'write' | 'stream'): DatabaseProcess {
  const child = spawn(process.execPath, ['--expose-gc', SCRIPT, url, task], { stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines: string[] = [];
  let stderr = '';
  child.stderr.on('data', (data) => {
    stderr += data;
  });
  const reader = createInterface(child.stdout).on('line', (line) => lines.push(line));
  const exited = new Promise<{ code: number | null; stderr: string; lines: string[] }>((resolve) => {
    child.on('close', (code) => resolve({ code, stderr, lines }));
  });
  return {
    pid: child.pid ?? 0,
    lines,
    said: (count) =>
      new Promise((resolve, reject) => {
        const look = () => lines.length >= count && resolve();
        reader.on('line', look);
        look();
        void exited.then(() => reject(new Error(`the process ended: ${stderr}`)));
      }),
    kill: () => void child.kill('SIGKILL'),
    exited,
  };
}
