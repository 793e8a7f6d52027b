/** A plugin in Rust, as its author makes it: init, build, test, and a gateway that serves with it. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pluginCommand } from '../../gateway/src/cli/plugin/plugin.ts';
import { readPluginArchive } from '../../gateway/src/plugins/archive.ts';
import { readPluginPackage } from '../../gateway/src/plugins/package.ts';
import { compileSpec, startGateway } from '../serve/gateway.ts';
import { runCommand } from './captured-run.ts';

const { GW_RUST_BIN, PATH = '', HOME } = process.env;
/** Where cargo and rustc are looked for: those that have the target first. */
const env = {
  PATH: [...(GW_RUST_BIN === undefined ? [] : [GW_RUST_BIN]), PATH].join(delimiter),
  ...(HOME === undefined ? {} : { HOME }),
};

function hasTarget(): boolean {
  try {
    const args = ['--print', 'target-libdir', '--target', 'wasm32-unknown-unknown'];
    const folder = execFileSync('rustc', args, { env: { ...process.env, ...env }, encoding: 'utf8' }).trim();
    return existsSync(folder);
  } catch {
    return false;
  }
}

let folder: string;
const at = (...names: string[]) => join(folder, ...names);
const run = (...args: string[]) => runCommand(pluginCommand, args, env);
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gw-rust-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('a plugin in Rust', () => {
  it.skipIf(!hasTarget())('is built, passes its tests and serves', async () => {
    for (const type of ['middleware', 'dispatcher']) {
      const name = `rusty-${type}`;
      const init = await run('init', at(name), '--lang', 'rust', '--type', type);
      expect(init).toMatchObject({ code: 0, stdout: expect.stringContaining('rustup target add wasm32') });
      const build = await run('build', at(name));
      expect(build, build.stderr).toMatchObject({ code: 0, stdout: expect.stringMatching(/\.wasm: \d+ bytes\n$/) });
      const test = await run('test', at(name));
      expect(test).toMatchObject({ code: 0, stdout: expect.stringMatching(/ 0 failed\n$/) });
      expect((await run('pack', at(name), '--output', at(`${name}.tar.gz`))).code).toBe(0);
    }
    const packages = await Promise.all(
      ['middleware', 'dispatcher'].map(async (type) =>
        readPluginPackage(await readPluginArchive(await readFile(at(`rusty-${type}.tar.gz`)), 'x')),
      ),
    );
    const post = {
      'x-gw-middlewares': [{ name: 'rusty-middleware', config: { greeting: 'ahoy' } }],
      'x-gw-dispatch': { name: 'rusty-dispatcher', config: { status: 202 } },
      requestBody: { content: { 'text/plain': {} } },
      responses: {},
    };
    const document = { openapi: '3.1.0', info: { title: 'T', version: '1' }, paths: { '/a': { post } } };
    const gw = await startGateway(await compileSpec(document, [], packages));
    const headers = { 'x-name': 'Ada', 'content-type': 'text/plain' };
    // More than the memory that is there at first, and characters that JSON escapes.
    const body = `"\\\n\u0001é${'x'.repeat(200_000)}`;
    for (let i = 0; i < 3; i++) {
      const answer = await fetch(`${gw.url}/a?x=1`, { method: 'POST', headers, body });
      expect([answer.status, answer.headers.get('x-greeting')]).toEqual([202, 'ahoy Ada']);
      expect(await answer.json()).toEqual({ method: 'POST', path: '/a', body });
    }
    expect((await fetch(`${gw.url}/a`, { method: 'POST', headers: { 'content-type': 'text/plain' } })).status).toBe(
      403,
    );
    await gw.stop();
  });

  it('begins with what cargo needs, and with no placeholder left', async () => {
    await run('init', at('plain'), '--lang', 'rust');
    const files = (await readdir(at('plain'), { recursive: true, withFileTypes: true })).filter((each) =>
      each.isFile(),
    );
    expect(files.map(({ name }) => name).sort()).toEqual([
      '.gitignore',
      'Cargo.toml',
      'README.md',
      'config-schema.json',
      'config.toml',
      'gw.rs',
      'lib.rs',
      'plugin.toml',
      'requests.yaml',
    ]);
    for (const { parentPath, name } of files) {
      expect(await readFile(join(parentPath, name), 'utf8')).not.toMatch(/\{\{|\}\}$/m);
    }
  });

  it('is told what is missing: cargo, and the name of the package', async () => {
    await run('init', at('alone'), '--lang', 'rust');
    const alone = await runCommand(pluginCommand, ['build', at('alone')], { PATH: at('nowhere') });
    expect(alone).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('rustup target add wasm32-unknown-unknown'),
    });
    await writeFile(at('alone', 'Cargo.toml'), '[lib]\n');
    expect((await run('build', at('alone'))).stderr).toContain('has no name of a package');
  });
});
