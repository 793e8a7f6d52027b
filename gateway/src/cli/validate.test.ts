import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCommand } from '../../../test/cli/captured-run.ts';
import { validateCommand } from './validate.ts';

const spec = (path: string, dispatch: string) => `openapi: 3.1.0
info: { title: A, version: "1" }
paths:
  ${path}:
    get:
      x-gw-dispatch: ${dispatch}
`;

let folder: string;
const at = (...parts: string[]) => join(folder, ...parts);
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gw-validate-'));
  await writeFile(at('good.yaml'), spec('/good', '{ name: mock }'));
  await writeFile(at('bad.yaml'), spec('/bad', '{ name: mock, config: { status: 1 } }'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const validate = (files: readonly string[], ...args: string[]) =>
  runCommand(validateCommand, [...files.flatMap((file) => ['--spec', file]), ...args]);
async function json(...files: string[]) {
  const { code, stdout } = await validate(files, '--format', 'json');
  return { code, ...JSON.parse(stdout) };
}

describe('gw validate', () => {
  it('exits 0 where all are valid, with a line for each and a summary', async () => {
    const { code, stdout } = await validate([at('good.yaml')]);
    expect([code, stdout]).toEqual([0, `${at('good.yaml')}: valid\n1 spec: 1 valid, 0 invalid\n`]);
  });

  it('exits 1 where one is not, and says where and why', async () => {
    const { code, stdout } = await validate([at('good.yaml'), at('bad.yaml')]);
    expect(code).toBe(1);
    expect(stdout).toContain(`${at('good.yaml')}: valid\n${at('bad.yaml')}: invalid\n${at('bad.yaml')}:6:`);
    expect(stdout).toContain('error E1030');
    expect(stdout).toMatch(/\n2 specs: 1 valid, 1 invalid\n$/);
  });

  it('prints results and summary as JSON', async () => {
    const { code, results, summary } = await json(at('good.yaml'), at('bad.yaml'));
    expect(code).toBe(1);
    expect(summary).toEqual({ total: 2, valid: 1, invalid: 1 });
    expect(results).toEqual([
      { file: at('good.yaml'), valid: true, errors: [], warnings: [] },
      { file: at('bad.yaml'), valid: false, errors: [expect.objectContaining({ code: 'E1030' })], warnings: [] },
    ]);
    expect(Object.keys(results[1].errors[0]).sort()).toEqual(
      ['code', 'severity', 'message', 'hint', 'file', 'pointer', 'line', 'column'].sort(),
    );
  });

  it('takes a warning for valid', async () => {
    await writeFile(at('warned.yaml'), spec('/warned', '{ name: mock }\n      x-gw-odd: 1'));
    const { code, results } = await json(at('warned.yaml'));
    expect(code).toBe(0);
    expect(results[0]).toMatchObject({ valid: true, errors: [], warnings: [{ code: 'E1015' }] });
  });

  it('leaves to gw compile what a manifest or a flag settles', async () => {
    await writeFile(at('other.yaml'), spec('/other', '{ name: our-own, config: { a: 1 } }'));
    await writeFile(at('plain.yaml'), spec('/plain', '{ name: http-upstream, config: { url: "http://a.example" } }'));
    await writeFile(at('named.yaml'), spec('/named', '{ name: http-upstream, config: { url: "upstream://books" } }'));
    const { code, summary } = await json(at('other.yaml'), at('plain.yaml'), at('named.yaml'));
    expect([code, summary]).toEqual([0, { total: 3, valid: 3, invalid: 0 }]);
  });

  it('finds a route that two of them have', async () => {
    await mkdir(at('more'));
    await writeFile(at('more', 'again.yaml'), spec('/good', '{ name: mock }'));
    const { code, results } = await json(at('good.yaml'), at('more', 'again.yaml'));
    expect(code).toBe(1);
    const codes = results.flatMap(({ errors }: { errors: { code: string }[] }) => errors.map((each) => each.code));
    expect(codes).toEqual(['E1010']);
  });

  it('reads what a spec refers to, and names that file as the place', async () => {
    const parts = 'components: { schemas: { A: { type: nonsense } } }\n';
    await mkdir(at('parts'));
    await writeFile(at('parts', 'schemas.yaml'), parts);
    const body = `{ content: { application/json: { schema: { $ref: "parts/schemas.yaml#/components/schemas/A" } } } }`;
    await writeFile(at('refers.yaml'), spec('/refers', `{ name: mock }\n      requestBody: ${body}`));
    const { code, results } = await json(at('refers.yaml'));
    expect(code).toBe(1);
    expect(results[0].errors[0].file).toMatch(/parts\/schemas\.yaml$/);
  });

  it.each([
    ['not YAML', 'a: [', 'E1002'],
    ['no spec', 'a: 1\n', 'E1001'],
    ['an unresolved $ref', `${spec('/a', '{ name: mock }')}      parameters: [{ $ref: "gone.yaml#/a" }]\n`, 'E1003'],
    ['without info', 'openapi: 3.1.0\npaths: {}\n', 'E1004'],
  ])('refuses %s', async (_what, text, expected) => {
    await writeFile(at('refused.yaml'), text);
    const { code, results } = await json(at('refused.yaml'));
    expect(code).toBe(1);
    expect(results[0].errors.map((each: { code: string }) => each.code)).toContain(expected);
  });

  it('says that a file is not there, and goes on with the others', async () => {
    const { code, results, summary } = await json(at('gone.yaml'), at('good.yaml'));
    expect([code, summary]).toEqual([1, { total: 2, valid: 1, invalid: 1 }]);
    expect(results[0].errors[0].message).toBe(`cannot read spec ${at('gone.yaml')}: there is no such file`);
  });

  it('asks for a spec', async () => {
    const { code, stderr } = await validate([]);
    expect([code, stderr]).toEqual([
      1,
      'gw validate: there is no gw.yaml here: name at least one file, such as: gw validate openapi.yaml\n',
    ]);
  });

  it('takes files without an option, also one that is named openapi.yaml', async () => {
    await writeFile(at('openapi.yaml'), spec('/a', '{ name: mock }'));
    const { code, stdout } = await runCommand(validateCommand, [at('openapi.yaml'), at('good.yaml')]);
    expect([code, stdout]).toEqual([
      0,
      `${at('openapi.yaml')}: valid\n${at('good.yaml')}: valid\n2 specs: 2 valid, 0 invalid\n`,
    ]);
  });

  // docs/decisions.md#one-verdict
  it('judges operations alike with and without a dispatcher', async () => {
    const bad = (dispatch: string) =>
      `openapi: 3.1.0\ninfo: { title: A, version: "1" }\n${dispatch}paths:\n  /a:\n    get:\n      responses:\n        "200":\n          description: OK\n          content: { application/json: { schema: { type: strin } } }\n`;
    const upstream = 'x-gw-dispatch: { name: http-upstream, config: { url: "https://a.example" } }\n';
    for (const dispatch of ['', upstream, 'x-gw-dispatch: { name: mock }\n']) {
      await writeFile(at('verdict.yaml'), bad(dispatch));
      const { code, results } = await json(at('verdict.yaml'));
      expect([code, results[0].errors.map((each: { code: string }) => each.code)]).toEqual([1, ['E1004']]);
    }
    await writeFile(at('verdict.yaml'), bad('x-gw-dispatch: false\n'));
    expect((await json(at('verdict.yaml'))).code).toBe(0);
  });

  it.each([
    ['a path parameter that is not declared', '/a/{id}', ''],
    ['a greedy parameter that is not declared as one', '/a/{id+}', pathParameter('id', '{ type: string }')],
    ['a schema of a parameter', '/a/{id}', pathParameter('id', '{ type: strin }')],
    ['a reference to nothing', '/a', "      parameters: [{ $ref: '#/components/parameters/None' }]\n"],
  ])('judges %s alike with and without a dispatcher', async (_what, path, parameters) => {
    const verdicts = [];
    for (const dispatch of ['', 'x-gw-dispatch: { name: mock }\n']) {
      const text = `openapi: 3.1.0\ninfo: { title: A, version: "1" }\n${dispatch}paths:\n  ${path}:\n    get:\n${parameters}      responses: { "200": { description: OK } }\n`;
      await writeFile(at('verdict.yaml'), text);
      const { code, results } = await json(at('verdict.yaml'));
      verdicts.push([code, ...results[0].errors.map((each: { code: string }) => each.code)]);
    }
    expect(verdicts[0]?.[0]).toBe(1);
    expect(verdicts[1]).toEqual(verdicts[0]);
  });
});

function pathParameter(name: string, schema: string): string {
  return `      parameters: [{ name: ${name}, in: path, required: true, schema: ${schema} }]\n`;
}
