/** A real `gw dev` process for tests, on a free port. */
import { spawn } from 'node:child_process';
import { GW } from '../programs/gw.ts';
import { programEnv } from '../programs/program.ts';

export interface DevServer {
  readonly url: string;
  /** Returns all that it has printed to standard error so far. */
  said(): string;
  /** Resolves when it has ended. */
  stop(): Promise<void>;
}

/** In the folder `cwd`. Rejects with what it said where it does not come to serve. */
export async function startDev(cwd: string, ...args: string[]): Promise<DevServer> {
  const child = spawn(
    process.execPath,
    [GW, 'dev', '--listen', '127.0.0.1:0', '--admin-bind', 'off', '--log-level', 'error', ...args],
    { cwd, stdio: ['ignore', 'ignore', 'pipe'], env: programEnv() },
  );
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const stop = async () => {
    child.kill('SIGTERM');
    await exited;
  };
  let said = '';
  const url = new Promise<string>((resolve, reject) => {
    child.stderr.on('data', (chunk) => {
      said += chunk;
      const serving = /compiled in \d+ ms; (http:\S+)/.exec(said)?.[1];
      if (serving !== undefined) resolve(serving);
      if (said.includes('waiting for a change')) reject(new Error(said));
    });
    child.once('exit', () => reject(new Error(said)));
  });
  try {
    return { url: await url, said: () => said, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
