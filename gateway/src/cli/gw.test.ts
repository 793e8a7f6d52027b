import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runGw } from '../../../test/cli/gw-process.ts';
import { renderCli } from './cli-doc.ts';
import type { Program } from './command-line/program.ts';
import { variableOf } from './command-line/variables.ts';
import { gwCommand } from './gw.ts';

const program: Program = {
  env: {},
  stdin: async () => new Uint8Array(0),
  input: async function* () {},
  stdout: () => {},
  stderr: () => {},
  exit: () => {},
  onSignal: () => {},
};
const { commands } = await gwCommand(program);
const docs = join(import.meta.dirname, '..', '..', '..', 'docs');

describe.each(commands.map((command) => [command.name(), command] as const))('gw %s', (name, command) => {
  it('has a variable for every option', () => {
    const without = command.options.filter((option) => variableOf(option) === undefined);
    expect(without.map(({ flags }) => flags)).toEqual([]);
  });

  it('has examples in its help, and says of every option what it is', async () => {
    expect(await renderCli()).toMatch(new RegExp(`## gw ${name}\n[^#]*Examples:\n  \\$ `));
    expect(command.options.filter(({ description }) => description === '')).toEqual([]);
  });
});

it('docs/cli.md is what the commands say', async () => {
  expect(await readFile(join(docs, 'cli.md'), 'utf8')).toBe(await renderCli());
});

describe('variables', () => {
  let folder: string;
  const at = (name: string) => join(folder, name);
  const spec = (operation: string) =>
    `openapi: 3.1.0\ninfo: { title: x, version: "1" }\npaths:\n  /a:\n    get: ${operation}\n`;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gw-variables-'));
    await writeFile(at('good.yaml'), spec('{ x-gw-dispatch: { name: mock } }'));
    await writeFile(at('bad.yaml'), spec('{ x-gw-dispatch: mock }'));
    await writeFile(at('gw.yaml'), 'plugins: { mock: {} }\n');
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('give lists and choices, and flags come before them', async () => {
    const env = { GW_SPEC: `${at('good.yaml')},${at('bad.yaml')}`, GW_FORMAT: 'json' };
    const { code, stdout } = await runGw(['validate'], env);
    expect([code, JSON.parse(stdout).summary]).toEqual([1, { total: 2, valid: 1, invalid: 1 }]);
    const flags = await runGw(['validate', '--spec', at('good.yaml'), '--format', 'text'], env);
    expect(flags).toMatchObject({ code: 0, stdout: expect.stringContaining('1 spec: 1 valid') });
  });

  it('turn switches on and off, and are refused where they are neither', async () => {
    const env = { GW_SPEC: at('good.yaml'), GW_MANIFEST: at('gw.yaml'), GW_OUTPUT: at('out.gwa'), GW_FORMAT: 'json' };
    expect((await runGw(['compile'], { ...env, GW_PRODUCTION: 'false', GW_NO_CACHE: '1' })).code).toBe(0);
    const refused = await runGw(['compile'], { ...env, GW_NO_CACHE: 'perhaps' });
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('Give true or false.') });
  });

  it('may stand in for a switch of a command with arguments, which swallows none', async () => {
    const flag = await runGw(['init', '--fetch-plugins', at('one')]);
    const variable = await runGw(['init', at('two')], { GW_FETCH_PLUGINS: 'true' });
    const off = await runGw(['init', at('three')], { GW_FETCH_PLUGINS: 'false' });
    expect([flag.code, variable.code, off.code]).toEqual([0, 0, 0]);
    const manifests = await Promise.all(['one', 'two', 'three'].map((name) => readFile(at(`${name}/gw.yaml`), 'utf8')));
    expect(manifests.map((text) => text.includes('path:'))).toEqual([true, true, false]);
  });
});
