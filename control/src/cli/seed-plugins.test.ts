/** `gw-control seed-plugins` and `gw-control migrate` as processes, on both databases. */
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { DATABASE_AT_HAND, testDatabase, unopenedDatabase } from '../../../test/control/database.ts';
import { GW_CONTROL } from '../../../test/programs/gw-control.ts';
import { programEnv } from '../../../test/programs/program.ts';
import { openDatabase } from '../db/database.ts';
import { findPlugin } from '../modules/plugins/store.ts';

const FIXTURES = join(import.meta.dirname, '..', '..', '..', 'test', 'fixtures', 'plugins');

async function gwControl(databaseUrl: string | null, ...args: string[]) {
  const child = spawn(process.execPath, [GW_CONTROL, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...programEnv(), ...(databaseUrl === null ? {} : { DATABASE_URL: databaseUrl }) },
  });
  const [stdout, stderr, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve) => child.on('exit', resolve)),
  ]);
  return { stdout, stderr, code };
}

let plugins = '';
beforeEach(() => {
  plugins = mkdtempSync(join(tmpdir(), 'gw-seed-'));
  onTestFinished(() => rmSync(plugins, { recursive: true }));
  for (const name of ['caller', 'two-headers']) cpSync(join(FIXTURES, name), join(plugins, name), { recursive: true });
});

const edit = (file: string, change: (content: string) => string) =>
  writeFileSync(join(plugins, file), change(readFileSync(join(plugins, file), 'utf8')));

describe.each(DATABASE_AT_HAND)('gw-control on %s', (_name, kind, absent) => {
  describe.skipIf(absent)('seed-plugins', () => {
    it('registers what is new, leaves what is there, and replaces it with --force', async () => {
      const { url, drop } = await unopenedDatabase(kind);
      onTestFinished(drop);
      const seed = (...args: string[]) => gwControl(url, 'seed-plugins', '--plugins-dir', plugins, ...args);
      expect(await seed()).toEqual({
        stdout: 'registered caller 1.0.0\nregistered two-headers 1.0.0\n',
        stderr: '',
        code: 0,
      });
      edit('two-headers/plugin.toml', (toml) => `${toml}cpu_ms = 7\n`);
      const again = await seed();
      expect(again).toMatchObject({ code: 0, stderr: '' });
      expect(again.stdout).toBe(
        'unchanged caller 1.0.0\nskipped two-headers 1.0.0: it already exists with other content (use --force to replace it)\n',
      );
      const forced = await seed('--force', '--verbose');
      expect(forced.stdout).toContain('updated two-headers 1.0.0\n  folder: ');
      expect((await seed()).stdout).toBe('unchanged caller 1.0.0\nunchanged two-headers 1.0.0\n');
    });

    it('refuses what is no plugin, says why, registers the others, and exits with 1', async () => {
      const { url, drop } = await unopenedDatabase(kind);
      onTestFinished(drop);
      const plugin = (name: string, toml: string, wasm: string | Buffer | null) => {
        mkdirSync(join(plugins, name));
        writeFileSync(join(plugins, name, 'plugin.toml'), toml);
        if (wasm !== null) writeFileSync(join(plugins, name, `${name}.wasm`), wasm);
      };
      const toml = (name: string) => `[plugin]\nname = "${name}"\nversion = "1.0.0"\ntype = "middleware"\n`;
      plugin('broken-manifest', '[plugin', '');
      plugin('garbage', toml('garbage'), 'hello');
      plugin('no-module', toml('no-module'), null);
      plugin('undeclared', toml('undeclared'), readFileSync(join(FIXTURES, 'caller', 'caller.wasm')));
      mkdirSync(join(plugins, 'a-folder-of-something-else'));
      edit('caller/config-schema.json', () => '{"type": "strange"}');
      const { stdout, stderr, code } = await gwControl(url, 'seed-plugins', '--plugins-dir', plugins);
      expect([code, stdout]).toEqual([1, 'registered two-headers 1.0.0\n']);
      for (const [name, why] of [
        ['broken-manifest', /does not parse/],
        ['garbage', /not a valid WebAssembly module/],
        ['no-module', /no-module\.wasm is missing/],
        ['undeclared', /undeclared/],
        ['caller', /not a usable JSON Schema/],
      ] as const) {
        const line = stderr.split('\n').find((each) => each.startsWith(`refused ${join(plugins, name)}: `));
        expect(line, name).toMatch(why);
      }
      expect(stderr).toContain('gw-control: 5 of 6 plugins were refused\n');
      expect(stderr.split('\n')).toHaveLength(7);
      const db = await openDatabase(url);
      onTestFinished(() => db.close());
      expect(await findPlugin(db.kysely, 'two-headers', '1.0.0')).toMatchObject({ builtin: false, type: 'middleware' });
      expect(await findPlugin(db.kysely, 'undeclared', '1.0.0')).toBeUndefined();
    });
  });

  it.skipIf(absent)('migrate says what it applied, once', async () => {
    const database = await unopenedDatabase(kind);
    onTestFinished(database.drop);
    await gwControl(database.url, 'migrate');
    expect(await gwControl(database.url, 'migrate')).toEqual({
      stdout: 'nothing to do: the database is up to date\n',
      stderr: '',
      code: 0,
    });
    const json = await gwControl(database.url, 'migrate', '--json');
    expect(JSON.parse(json.stdout)).toEqual({ applied: [] });
  });
});

describe('gw-control seed-plugins', () => {
  it('says who has the embedded database, and what to do instead', async () => {
    const { url, close } = await testDatabase('pglite');
    onTestFinished(close);
    const { stderr, code } = await gwControl(url, 'seed-plugins', '--plugins-dir', plugins);
    expect(code).toBe(1);
    expect(stderr).toContain(`is in use by process ${process.pid}`);
    expect(stderr).toContain('gw-control plugins register');
  });

  it('makes a new database ready, unless it is told not to', async () => {
    const folder = join(plugins, '..', `gw-seed-new-${crypto.randomUUID()}`);
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const args = ['seed-plugins', '--plugins-dir', plugins, '--database-url', `pglite://${folder}`];
    const refused = await gwControl(null, ...args, '--migrate=false');
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('run gw-control migrate')]);
    expect(await gwControl(null, ...args)).toMatchObject({ code: 0, stdout: expect.stringContaining('registered') });
  });

  it('fails where there is no database, no server at its address, and no directory', async () => {
    const args = ['seed-plugins', '--plugins-dir', plugins];
    expect(await gwControl(null, ...args)).toMatchObject({ stderr: expect.stringContaining('--database-url') });
    const away = await gwControl('postgres://ada:secret-word@127.0.0.1:1/gw', ...args);
    expect(away).toMatchObject({ code: 1, stderr: expect.stringContaining('cannot reach the database') });
    expect(away.stderr).not.toContain('secret-word');
    const nowhere = await gwControl('pglite://', 'seed-plugins', '--plugins-dir', join(plugins, 'none'));
    expect(nowhere).toMatchObject({ code: 1, stderr: expect.stringContaining('name it with --plugins-dir') });
  });
});
