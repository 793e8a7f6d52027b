/** A network namespace that one link, which a test may cut, joins to this host. Linux only, and root's to make. */
import { execFile, execFileSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Whether one can be made here. */
function canBeMade(): boolean {
  const name = `gw-try-${process.pid}`;
  try {
    execFileSync('ip', ['netns', 'add', name], { stdio: 'ignore' });
    execFileSync('ip', ['netns', 'del', name], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Tests are skipped where the system has none, or lets nobody make them: a matter of the machine, not of set-up. */
export const NO_NAMESPACES = !canBeMade();

export class NetworkNamespace {
  /** What a command is put behind to run within. */
  readonly within: readonly string[];
  /** IPv4 address of this host at the link. */
  readonly hostAddress: string;
  readonly #name: string;
  readonly #hostEnd: string;
  readonly #farAddress: string;

  private constructor() {
    const id = crypto.randomUUID().slice(0, 8);
    this.#name = `gw-${id}`;
    // At most 15 characters.
    this.#hostEnd = `gwh${id}`;
    this.within = ['ip', 'netns', 'exec', this.#name];
    // Set aside for tests of networks (RFC 2544), and unlikely to be in use twice.
    const block = `198.${randomInt(18, 20)}.${randomInt(256)}`;
    const first = randomInt(64) * 4;
    this.hostAddress = `${block}.${first + 1}`;
    this.#farAddress = `${block}.${first + 2}`;
  }

  /** With the link up. */
  static async create(): Promise<NetworkNamespace> {
    const made = new NetworkNamespace();
    try {
      await made.#make();
      return made;
    } catch (error) {
      await made.remove();
      throw error;
    }
  }

  async #make(): Promise<void> {
    const farEnd = this.#hostEnd.replace('gwh', 'gwn');
    await ip('netns', 'add', this.#name);
    await ip('link', 'add', this.#hostEnd, 'type', 'veth', 'peer', 'name', farEnd, 'netns', this.#name);
    await ip('address', 'add', `${this.hostAddress}/30`, 'dev', this.#hostEnd);
    await ip('link', 'set', this.#hostEnd, 'up');
    await ip('-n', this.#name, 'address', 'add', `${this.#farAddress}/30`, 'dev', farEnd);
    for (const end of ['lo', farEnd]) await ip('-n', this.#name, 'link', 'set', end, 'up');
  }

  cut(): Promise<void> {
    return ip('link', 'set', this.#hostEnd, 'down');
  }

  mend(): Promise<void> {
    return ip('link', 'set', this.#hostEnd, 'up');
  }

  /** What GET of the URL answers within: status and body. */
  async get(url: string): Promise<string> {
    const script = 'fetch(process.argv[1]).then(async (r) => console.log(r.status, await r.text()))';
    const [program = '', ...args] = [...this.within, process.execPath, '-e', script, url];
    return (await run(program, args)).stdout.trim();
  }

  /** The link goes with it. */
  async remove(): Promise<void> {
    await ip('link', 'del', this.#hostEnd).catch(() => {});
    await ip('netns', 'del', this.#name).catch(() => {});
  }
}

async function ip(...args: string[]): Promise<void> {
  await run('ip', args);
}
