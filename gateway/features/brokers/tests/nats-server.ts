/** A nats-server of a test's own: on a free port, with JetStream kept on disk, to be killed and started again. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { eventually } from '../../../../test/eventually.ts';
import { freePort } from '../../../../test/free-port.ts';

const PROGRAM = program();
export const NO_NATS_SERVER = PROGRAM === null;

function program(): string | null {
  const { GW_NATS_SERVER, PATH = '' } = process.env;
  if (GW_NATS_SERVER) return GW_NATS_SERVER;
  const found = [...PATH.split(delimiter), '/usr/sbin'].map((folder) => join(folder, 'nats-server')).find(existsSync);
  return found ?? null;
}

export class NatsServer {
  readonly #port: number;
  readonly #folder: string;
  #child: ChildProcess | null = null;

  private constructor(port: number) {
    this.#port = port;
    this.#folder = mkdtempSync(join(tmpdir(), 'gw-nats-'));
  }

  /** `config`: what stands in its file beside the port; JetStream is on but with operators, who would need more. */
  static async start(config = ''): Promise<NatsServer> {
    const server = new NatsServer(await freePort());
    const streams = config.includes('operator:') ? '' : `jetstream { store_dir: ${JSON.stringify(server.#folder)} }`;
    const file = join(server.#folder, 'nats.conf');
    writeFileSync(file, `listen: "127.0.0.1:${server.#port}"\n${streams}\n${config}\n`);
    await server.up();
    return server;
  }

  get url(): string {
    return `nats://127.0.0.1:${this.#port}`;
  }

  /** Starts it, with what it had stored, and waits until it accepts connections. */
  async up(): Promise<void> {
    this.#child = spawn(PROGRAM ?? '', ['-c', join(this.#folder, 'nats.conf')], { stdio: 'ignore' });
    await eventually(() => accepts(this.#port));
  }

  /** SIGKILL: it says goodbye to nobody. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === null) return;
    this.#child = null;
    const exited = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await exited;
  }

  /** SIGSTOP and SIGCONT: it hangs, and goes on. */
  hang(): void {
    this.#child?.kill('SIGSTOP');
  }

  goOn(): void {
    this.#child?.kill('SIGCONT');
  }

  async close(): Promise<void> {
    this.goOn();
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function accepts(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve();
    });
    socket.once('error', reject);
  });
}
