/** An npm registry of our own for tests: packages of `@gw` are those that are published to it, all others are npm's. */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../eventually.ts';
import { freePort } from '../free-port.ts';

const FOLDER = join(import.meta.dirname, 'registry');
const VERDACCIO = join(FOLDER, 'node_modules', 'verdaccio', 'bin', 'verdaccio');
/** `npm ci --prefix test/release/registry` installs it. */
export const hasVerdaccio = existsSync(VERDACCIO);

export interface NpmRegistry {
  readonly url: string;
  /** A line of `.npmrc` that lets its user publish. */
  readonly login: string;
  close(): Promise<void>;
}

export async function startNpmRegistry(): Promise<NpmRegistry> {
  const dir = mkdtempSync(join(tmpdir(), 'gw-npm-'));
  const host = `127.0.0.1:${await freePort()}`;
  const npm = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim();
  const config = {
    storage: join(dir, 'storage'),
    auth: { htpasswd: { file: join(dir, 'htpasswd') } },
    uplinks: { npm: { url: npm, maxage: '1h', timeout: '60s' } },
    packages: {
      '@gw/*': { access: '$all', publish: '$authenticated' },
      '**': { access: '$all', proxy: 'npm' },
    },
    web: { enable: false },
    log: { type: 'stdout', level: 'error' },
    max_body_size: '100mb',
  };
  writeFileSync(join(dir, 'config.yaml'), JSON.stringify(config));
  const child = spawn(process.execPath, [VERDACCIO, '--config', join(dir, 'config.yaml'), '--listen', host], {
    stdio: 'ignore',
  });
  const url = `http://${host}/`;
  await eventually(async () => {
    if (child.exitCode !== null) throw new Error(`verdaccio ended with ${child.exitCode}`);
    return (await fetch(`${url}-/ping`)).ok;
  });
  const answer = await fetch(`${url}-/user/org.couchdb.user:robot`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'robot', password: crypto.randomUUID() }),
  });
  const { token }: { token: string } = JSON.parse(await answer.text());
  return {
    url,
    login: `//${host}/:_authToken=${token}\n`,
    async close() {
      const gone = new Promise((resolve) => child.once('exit', resolve));
      child.kill();
      await gone;
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
