/** A PostgreSQL server of a test's own, which it may restart as it likes. */
import { execFile, execFileSync } from 'node:child_process';
import { appendFileSync, chownSync, existsSync, globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../free-port.ts';

/** GW_POSTGRES_BIN: the program `postgres` of an installation; GW_POSTGRES_LIBS: where its libraries are, if elsewhere. */
const { GW_POSTGRES_BIN, GW_POSTGRES_LIBS, PATH = '' } = process.env;
const PROGRAMS = ['initdb', 'pg_ctl', 'postgres'];

const folders = [
  ...(GW_POSTGRES_BIN ? [dirname(GW_POSTGRES_BIN)] : []),
  ...PATH.split(delimiter),
  // Of Debian, and of PostgreSQL's own packages.
  ...globSync(['/usr/lib/postgresql/*/bin', '/usr/pgsql-*/bin', '/usr/local/pgsql/bin']).sort().reverse(),
];
const bin = folders.find((folder) => PROGRAMS.every((program) => existsSync(join(folder, program)))) ?? null;

/** Tests are skipped, unless nothing may be. */
export const NO_POSTGRES = bin === null && process.env['GW_NO_SKIP'] !== '1';

/** The server does not run as root. */
const isRoot = process.getuid?.() === 0;
const idOf = (option: '-u' | '-g') => Number(execFileSync('id', [option, 'nobody'], { encoding: 'utf8' }));
const identity = isRoot ? { uid: idOf('-u'), gid: idOf('-g') } : null;

export class PrivatePostgres {
  readonly url: string;
  readonly #folder: string;

  private constructor(folder: string, port: number) {
    this.#folder = folder;
    this.url = `postgres://gw@127.0.0.1:${port}/postgres`;
  }

  static async start(): Promise<PrivatePostgres> {
    const folder = mkdtempSync(join(tmpdir(), 'gw-postgres-'));
    if (identity) chownSync(folder, identity.uid, identity.gid);
    const port = await freePort();
    const server = new PrivatePostgres(folder, port);
    await server.#run('initdb', [
      '-U',
      'gw',
      '-A',
      'trust',
      '-E',
      'UTF8',
      '--locale=C',
      '--no-sync',
      '-D',
      server.#data,
    ]);
    const settings = { port, listen_addresses: "'127.0.0.1'", unix_socket_directories: "''", fsync: 'off' };
    const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}\n`);
    appendFileSync(join(server.#data, 'postgresql.conf'), lines.join(''));
    await server.resume();
    return server;
  }

  /** `fast` ends sessions; `immediate` ends processes, so that what was committed comes from the log of writes. */
  stop(mode: 'fast' | 'immediate'): Promise<void> {
    return this.#control('stop', '-m', mode);
  }

  resume(): Promise<void> {
    return this.#control('start');
  }

  async close(): Promise<void> {
    // It may be stopped.
    await this.stop('immediate').catch(() => {});
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get #data(): string {
    return join(this.#folder, 'data');
  }

  #control(...args: string[]): Promise<void> {
    return this.#run('pg_ctl', [...args, '-w', '-D', this.#data, '-l', join(this.#folder, 'log')]);
  }

  /** Rejects with what the program says where it fails. */
  async #run(program: string, args: readonly string[]): Promise<void> {
    if (bin === null) throw new Error('no PostgreSQL is installed: GW_POSTGRES_BIN may name its program postgres');
    const env = { PATH, ...(GW_POSTGRES_LIBS ? { LD_LIBRARY_PATH: GW_POSTGRES_LIBS } : {}) };
    await promisify(execFile)(join(bin, program), args, { cwd: this.#folder, env, ...identity });
  }
}
