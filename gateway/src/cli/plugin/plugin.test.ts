/** The commands of plugin developers, as they run them: from an empty folder to a package that a gateway uses. */

import { hash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from '../../../../test/cli/captured-run.ts';
import { runGw } from '../../../../test/cli/gw-process.ts';
import { compileSpec, startGateway } from '../../../../test/serve/gateway.ts';
import { readPluginArchive } from '../../plugins/archive.ts';
import { ASSEMBLYSCRIPT_VERSION } from '../../plugins/assemblyscript.ts';
import { builtinPluginFolder } from '../../plugins/builtin.ts';
import { readPluginPackage } from '../../plugins/package.ts';
import { moduleOf, type Parts } from '../../wasm/binary/module-of.ts';
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
    const init = await runGw(['plugin', 'init', at(name), '--type', type]);
    expect([init.code, init.stdout]).toEqual([0, expect.stringContaining('gw plugin build')]);
    const build = await runGw(['plugin', 'build', at(name)]);
    expect(build).toMatchObject({ code: 0, stdout: expect.stringMatching(/my-\w+\.wasm: \d+ bytes\n$/) });
    const test = await runGw(['plugin', 'test', at(name)]);
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
      await readFile(join(import.meta.dirname, '..', '..', '..', '..', 'package.json'), 'utf8'),
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
    const nothing = { differences: [], logs: [], hints: [] };
    expect(results[1]).toEqual({ file: join('tests', 'requests.yaml'), name: 'right', passed: true, ...nothing });
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

  it('answers HTTP calls from http_calls, and shows those that have no answer or are not made', async () => {
    const caller = join(import.meta.dirname, '..', '..', '..', '..', 'test', 'fixtures', 'plugins', 'caller');
    await cp(caller, at('caller'), { recursive: true });
    await mkdir(at('caller', 'tests'), { recursive: true });
    const config = '{ url: https://tenants.example/v1/acme }';
    await writeFile(
      at('caller', 'tests', 'calls.yaml'),
      `- name: answered
  config: ${config}
  http_calls: [{ url: https://tenants.example/v1/acme, status: 201, json: { plan: gold } }]
  expect:
    answer: { status: 201, json: { plan: gold } }
    http_calls: [{ method: GET, url: https://tenants.example/v1/acme, headers: { x-more: "1", x-none: null } }]
- name: failed
  config: ${config}
  http_calls: [{ url: https://tenants.example/v1/acme, fails: timeout }]
  expect: { answer: { json: { detail: "-2" } } }
- name: not stubbed
  config: ${config}
  http_calls: [{ method: POST, url: https://tenants.example/v1/acme }]
  expect: { outcome: answered }
- name: other calls
  config: ${config}
  http_calls: [{ url: https://tenants.example/v1/acme }]
  expect: { http_calls: [] }
`,
    );
    const { code, stdout } = await run('test', at('caller'));
    expect(code).toBe(1);
    expect(stdout).toContain('✓ answered\n  ✓ failed\n  ✗ not stubbed\n');
    expect(stdout).toContain(
      'http_calls has no answer to GET https://tenants.example/v1/acme. Add one to the case:\n        expected [{"url":"https://tenants.example/v1/acme","status":200,"json":{}}]\n',
    );
    expect(stdout).toContain('hint: http_calls: the plugin did not call https://tenants.example/v1/acme (POST)\n');
    expect(stdout).toMatch(/✗ other calls\n +http_calls:\n +expected \[\]/);
    expect(stdout).toContain('4 cases: 2 passed, 2 failed\n');
    const online = await run('test', at('caller'), '--network', '--json');
    expect(JSON.parse(online.stdout).results[2]).toMatchObject({ passed: true, hints: [] });
  });

  it.each([
    ['{ url: nowhere }', 'url must match'],
    ['{ status: 200 }', "must have required property 'url'"],
    ['{ url: "https://a", body: "", json: 1 }', 'must NOT be valid'],
    ['{ url: "https://a", state: 1 }', '("state")'],
  ])('refuses the stub %s', async (stub, reason) => {
    await cases(`- { name: a, http_calls: [${stub}], expect: { outcome: answered } }`);
    expect(await run('test', at('my-dispatcher'))).toMatchObject({ code: 2, stderr: expect.stringContaining(reason) });
  });

  it('says where cases belong', async () => {
    const { code, stderr } = await run('test', builtinPluginFolder('mock'));
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

describe('hints for AssemblyScript', () => {
  const HEAD = `import { CONTINUE, READY, Response, text, TextBuilder } from "@gw/plugin-sdk/assembly";
export function init(): i32 { return READY; }
`;
  /** Builds a plugin of this code. */
  const build = async (code: string) => {
    await rm(at('beginner'), { recursive: true, force: true });
    await run('init', at('beginner'));
    await writeFile(at('beginner', 'assembly', 'index.ts'), HEAD + code);
    return run('build', at('beginner'));
  };
  const onRequest = (code: string) => `export function on_request(): i32 { ${code} return CONTINUE; }\n`;

  it.each([
    ['console.log', onRequest('console.log("here");'), ['imports env.console.log', 'host_log (Log of the SDK)']],
    ['Date.now', onRequest('if (Date.now() == 0) return 1;'), ['imports env.Date.now', 'time_now (now() of the SDK)']],
    ['new Date', onRequest('if (new Date().getTime() == 0) return 1;'), ['hint: The time is time_now']],
    ['async', onRequest('').replace('function', 'async function'), ['hint: There is nothing to await']],
    ['await', onRequest('const a = await fetch("https://a");'), ['hint: There is nothing to await']],
    ['a promise', onRequest('fetch("https://a").then(() => {});'), ['hint: There is nothing to await']],
  ])('gw plugin build: %s', async (_, code, says) => {
    const { code: exit, stderr } = await build(code);
    expect(exit).toBe(1);
    for (const each of says) expect(stderr).toContain(each);
  });

  it('gw plugin test: a global that counts', async () => {
    const code = `let count = 0;\n${onRequest(
      'count++; Response.setHeader(text("x-count"), new TextBuilder().integer(count).take());',
    )}`;
    expect((await build(code)).code).toBe(0);
    await writeFile(
      at('beginner', 'tests', 'requests.yaml'),
      '- { name: one, expect: { response_headers: { x-count: "1" } } }\n- { name: two, expect: { response_headers: { x-count: "2" } } }\n',
    );
    const { code: exit, stdout } = await run('test', at('beginner'));
    expect(exit).toBe(1);
    expect(stdout).toMatch(/✓ one\n +hint: it counts on .*\(response_headers\.x-count would be "1", then "2"\)/);
    expect(stdout.match(/host_rate_limit_take/g)).toHaveLength(1);
    expect(stdout).toMatch(/1 passed, 1 failed\n\nMemory is put back before every call.*state_set/);
  });
});

/** As Rust compiles it for wasm32-unknown-unknown, where nothing of a system is imported: it panics, or does nothing. */
describe('hints for Rust, and what else has no SDK', () => {
  const test = async (parts: Parts, cases: string, capabilities = '') => {
    await rm(at('bare'), { recursive: true, force: true });
    await mkdir(at('bare', 'tests'), { recursive: true });
    await writeFile(
      at('bare', 'plugin.toml'),
      `[plugin]\nname = "bare"\nversion = "1.0.0"\ntype = "middleware"\n${capabilities}`,
    );
    await writeFile(at('bare', 'config-schema.json'), '{"type":"object"}');
    await writeFile(at('bare', 'bare.wasm'), moduleOf(parts));
    await writeFile(at('bare', 'tests', 'requests.yaml'), cases);
    return run('test', at('bare'));
  };
  const onRequest = (code: readonly number[]): Required<Parts>['functions'] => [
    ['init', 0],
    ['on_request', 0, code],
  ];

  it('println!, for WASI', async () => {
    const imports: Required<Parts>['imports'] = [['wasi_snapshot_preview1', 'fd_write']];
    const { code, stderr } = await test({ imports }, '- { name: a, expect: { outcome: continue } }');
    expect(code).toBe(2);
    expect(stderr).toMatch(/imports wasi_snapshot_preview1\.fd_write: .*wasm32-unknown-unknown.*host_log/);
  });

  it('println!, which prints to nowhere', async () => {
    const { code, stdout } = await test({}, '- { name: a, expect: { logs: [here] } }');
    expect(code).toBe(1);
    expect(stdout).toContain('hint: nothing that it prints comes to the log\n');
    expect(stdout).toContain('println!');
    const declares = await test(
      {},
      '- { name: a, expect: { logs: [here] } }',
      '[capabilities]\nhost_functions = ["host_log"]',
    );
    expect([declares.code, declares.stdout]).toEqual([1, expect.not.stringContaining('hint')]);
  });

  it('SystemTime::now, which panics', async () => {
    const { code, stdout } = await test(
      { functions: onRequest([0x00, 0x0b]) },
      '- { name: a, expect: { outcome: continue } }',
    );
    expect(code).toBe(1);
    expect(stdout).toContain('log (error): on_request failed: trapped: unreachable\n');
    expect(stdout).toMatch(/hint: it panicked[\s\S]*SystemTime::now[\s\S]*time_now/);
  });

  it('async fn', async () => {
    const functions: Required<Parts>['functions'] = [
      ['init', 0],
      ['on_request', 9],
    ];
    const { code, stderr } = await test({ functions }, '- { name: a, expect: { outcome: continue } }');
    expect([code, stderr]).toEqual([2, expect.stringContaining('There is nothing to await')]);
  });

  it('a static that counts', async () => {
    // Answers with status 200 and what the bytes at 0 count.
    const count = [0x41, 0, 0x41, 0, 0x28, 2, 0, 0x41, 1, 0x6a, 0x36, 2, 0];
    const answer = [0x41, 0xc8, 1, 0x41, 0, 0x28, 2, 0, 0x6a, 0x41, 0, 0x41, 0, 0x10, 0, 0x41, 1, 0x0b];
    const { code, stdout } = await test(
      { imports: [['gw_abi_1', 'respond']], functions: onRequest([...count, ...answer]) },
      '- { name: a, expect: { answer: { status: 201 } } }',
    );
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /✓ a\n +hint: it counts on what an earlier call has left in memory \(answer\.status would be 201, then 202\)/,
    );
    expect(stdout).toContain('host_rate_limit_take');
  });
});
