/** The commands of plugin developers, as they run them: from an empty folder to a package that a gateway uses. */
import { hash } from 'node:crypto';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from '../../../test/cli/captured-run.ts';
import { runGw } from '../../../test/cli/gw-process.ts';
import { GW_WITH_SDK } from '../../../test/programs/gw.ts';
import { compileSpec, startGateway } from '../../../test/serve/gateway.ts';
import { readPluginArchive } from '../plugins/archive.ts';
import { ASSEMBLYSCRIPT_VERSION } from '../plugins/assemblyscript.ts';
import { readPluginPackage } from '../plugins/package.ts';
import { pluginCommand } from './plugin.ts';

let folder: string;
const at = (...names: string[]) => join(folder, ...names);
const run = (...args: string[]) => runCommand(pluginCommand, args);
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gw-plugin-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('gw plugin init, build, test, pack', () => {
  it.each(['middleware', 'dispatcher'])('begin with a %s that passes its tests', async (type) => {
    const name = `my-${type}`;
    const init = await runGw(['plugin', 'init', at(name), '--type', type], {}, GW_WITH_SDK);
    expect([init.code, init.stdout]).toEqual([0, expect.stringContaining('gw plugin build')]);
    const build = await runGw(['plugin', 'build', at(name)], {}, GW_WITH_SDK);
    expect(build).toMatchObject({ code: 0, stdout: expect.stringMatching(/my-\w+\.wasm: \d+ bytes\n$/) });
    const test = await runGw(['plugin', 'test', at(name)], {}, GW_WITH_SDK);
    expect(test).toMatchObject({ code: 0, stdout: expect.stringMatching(/✓ .*\n\d cases: \d passed, 0 failed\n$/s) });
  });

  it('make a package that a gateway serves with', async () => {
    const output = at('package.tar.gz');
    const { code, stdout } = await run('pack', at('my-middleware'), '--output', output);
    expect(code).toBe(0);
    const bytes = await readFile(output);
    expect(stdout).toContain(`sha256: ${hash('sha256', bytes, 'hex')}`);
    expect(stdout).toContain('my-middleware:\n    url: https://');
    const plugin = readPluginPackage(await readPluginArchive(bytes, 'x'));
    const get = { 'x-gw-middlewares': [{ name: 'my-middleware' }], 'x-gw-dispatch': { name: 'mock' }, responses: {} };
    const document = { openapi: '3.1.0', info: { title: 'T', version: '1' }, paths: { '/a': { get } } };
    const gw = await startGateway(await compileSpec(document, ['mock'], [plugin]));
    const answer = await fetch(`${gw.url}/a`, { headers: { 'x-name': 'Ada' } });
    expect([answer.status, answer.headers.get('x-greeting')]).toEqual([200, 'hello Ada']);
    expect((await fetch(`${gw.url}/a`)).status).toBe(403);
    await gw.stop();
  });

  it('make equal packages of equal files', async () => {
    await run('pack', at('my-dispatcher'), '--output', at('one.tar.gz'));
    await run('pack', at('my-dispatcher'), '--output', at('two.tar.gz'));
    expect(await readFile(at('one.tar.gz'))).toEqual(await readFile(at('two.tar.gz')));
  });

  it('ask for the compiler that this gateway is built with', async () => {
    const json: unknown = JSON.parse(await readFile(at('my-middleware', 'package.json'), 'utf8'));
    expect(json).toMatchObject({ name: 'my-middleware', devDependencies: { assemblyscript: ASSEMBLYSCRIPT_VERSION } });
    const root: unknown = JSON.parse(
      await readFile(join(import.meta.dirname, '..', '..', '..', 'package.json'), 'utf8'),
    );
    expect(root).toMatchObject({ devDependencies: { assemblyscript: ASSEMBLYSCRIPT_VERSION } });
  });
});

describe('gw plugin test', () => {
  const cases = (text: string) => writeFile(at('my-dispatcher', 'tests', 'requests.yaml'), text);

  it('shows where a case differs, and exits with 1', async () => {
    await cases(`- name: wrong status
  request: { method: PUT }
  expect: { outcome: answered, answer: { status: 201, json: { method: PUT, path: /x } } }
- name: right
  expect: { answer: { headers: { Content-Type: application/json, x-none: null } }, context: {} }
`);
    const { code, stdout } = await run('test', at('my-dispatcher'));
    expect(code).toBe(1);
    expect(stdout).toContain('✗ wrong status\n      answer.status:\n        expected 201\n        got      200\n');
    expect(stdout).toContain('answer.json.path:\n        expected "/x"\n        got      "/"\n');
    expect(stdout).toContain('✓ right\n2 cases: 1 passed, 1 failed\n');
  });

  it('prints the same as JSON', async () => {
    const { code, stdout } = await run('test', at('my-dispatcher'), '--json');
    expect(code).toBe(1);
    const { results, summary } = JSON.parse(stdout);
    expect(summary).toEqual({ total: 2, passed: 1, failed: 1 });
    expect(results[0].differences[0]).toEqual({ at: 'answer.status', expected: 201, actual: 200 });
    expect(results[1]).toEqual({ file: join('tests', 'requests.yaml'), name: 'right', passed: true, differences: [] });
  });

  it('fails a case whose config is refused without being expected to be', async () => {
    await cases(
      '- { name: a, config: { status: 1 }, expect: { outcome: answered } }\n- { name: b, expect: { config_error: nothing } }\n',
    );
    const { code, stdout } = await run('test', at('my-dispatcher'));
    expect(code).toBe(1);
    expect(stdout).toContain('config_error:\n        expected null\n        got      "the config');
    expect(stdout).toContain('expected "nothing"\n        got      null');
  });

  it.each([
    ['- { name: a }', /requests\.yaml: \/0 must have required property 'expect'/],
    ['- { name: a, expect: { outcom: answered } }', /additional properties \("outcom"\)/],
    ['- { name: a, expect: { outcome: maybe } }', /outcome must be equal to one of/],
    ['a: [', /requests\.yaml:\d+:\d+: /],
    ['[]', /the file must NOT have fewer than 1 items/],
  ])('exits with 2 where a file holds no cases: %s', async (text, reason) => {
    await cases(text);
    const { code, stderr } = await run('test', at('my-dispatcher'));
    expect([code, stderr]).toEqual([2, expect.stringMatching(reason)]);
  });

  it('says where cases belong', async () => {
    const { code, stderr } = await run('test', join(import.meta.dirname, '..', '..', 'plugins', 'mock'));
    expect([code, stderr]).toEqual([2, expect.stringContaining(join('mock', 'tests'))]);
  });
});

describe('what the commands refuse', () => {
  it('init: folders that are not empty, and names that are none', async () => {
    expect((await run('init', at('my-middleware'))).stderr).toContain('is not empty');
    const bad = await run('init', at('Bad_Name'));
    expect([bad.code, bad.stderr]).toEqual([1, expect.stringContaining('lower-case words')]);
    await expect(stat(at('Bad_Name'))).rejects.toThrow();
  });

  it('build: what does not compile, with the place', async () => {
    await run('init', at('broken'));
    await writeFile(at('broken', 'assembly', 'index.ts'), 'export function init(): i32 { return nosuch; }\n');
    const { code, stderr } = await run('build', at('broken'));
    expect([code, stderr]).toEqual([1, expect.stringMatching(/nosuch[\s\S]*index\.ts/)]);
  });

  it('build: what a gateway would not load', async () => {
    await writeFile(at('broken', 'assembly', 'index.ts'), 'export function init(): i32 { return 0; }\n');
    const { code, stderr } = await run('build', at('broken'));
    expect([code, stderr]).toEqual([1, expect.stringContaining('exports no hook')]);
  });

  it('test and pack: folders without a plugin, and plugins that are not built', async () => {
    expect((await run('pack', at('nowhere'))).stderr).toContain('holds no plugin');
    await run('init', at('unbuilt'));
    const test = await run('test', at('unbuilt'));
    expect([test.code, test.stderr]).toEqual([2, expect.stringContaining('gw plugin build')]);
    const pack = await run('pack', at('unbuilt'), '--output', at('x.tar.gz'));
    expect([pack.code, pack.stderr]).toEqual([1, expect.stringContaining('gw plugin build')]);
  });
});
