/** A Redis of a test's own: on a free port, with as much memory as the test says. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { Redis } from 'iovalkey';
import { eventually } from '../eventually.ts';
import { freePort } from '../free-port.ts';

const PROGRAM = program();
export const NO_REDIS_SERVER = PROGRAM === null;

function program(): string | null {
  const { GW_REDIS_SERVER, PATH = '' } = process.env;
  if (GW_REDIS_SERVER) return GW_REDIS_SERVER;
  return [...PATH.split(delimiter)].map((folder) => join(folder, 'redis-server')).find(existsSync) ?? null;
}

export class RedisServer {
  readonly url: string;
  /** A client of it. */
  readonly redis: Redis;
  readonly #child: ChildProcess;

  private constructor(port: number, child: ChildProcess) {
    this.url = `redis://127.0.0.1:${port}`;
    this.#child = child;
    this.redis = new Redis(this.url);
    this.redis.on('error', () => {});
  }

  /** `settings`: such as `--maxmemory 16mb`. */
  static async start(...settings: readonly string[]): Promise<RedisServer> {
    const port = await freePort();
    const { GW_REDIS_LIBS } = process.env;
    const env = { ...process.env, ...(GW_REDIS_LIBS ? { LD_LIBRARY_PATH: GW_REDIS_LIBS } : {}) };
    const always = ['--bind', '127.0.0.1', '--port', `${port}`, '--save', '', '--appendonly', 'no'];
    const child = spawn(PROGRAM ?? '', [...always, ...settings], { stdio: 'ignore', env });
    const server = new RedisServer(port, child);
    await eventually(async () => (await server.redis.ping()) === 'PONG');
    return server;
  }

  async stop(): Promise<void> {
    this.redis.disconnect();
    const exited = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.kill('SIGKILL');
    await exited;
  }
}
