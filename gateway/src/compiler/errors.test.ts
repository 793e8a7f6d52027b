/** Every code of the table: an input that shows it, and where the diagnostic points. */
import { readdirSync, readFileSync } from 'node:fs';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCommand } from '../../../test/cli/captured-run.ts';
import { fakePlugins, MIDDLEWARE_WASM, writeFakePlugins } from '../../../test/fixtures/specs/plugins.ts';
import { readArtifact } from '../artifact/index.ts';
import { compileCommand } from '../cli/compile.ts';
import type { Diagnostic } from '../spec/diagnostic.ts';
import { ERROR_CODES } from '../spec/error-codes.ts';
import { renderErrorCodes } from '../spec/error-codes-doc.ts';
import { type CompileFlags, compile, type Project, type ProjectFile } from './index.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const folder = join(root, 'test', 'fixtures', 'specs', 'errors');

const GOOD = `openapi: 3.1.0
info: { title: x, version: "1" }
paths:
  /a:
    get:
      x-gw-dispatch: { name: mock }
`;

function project(texts: Record<string, string>, more: Partial<Project> = {}): Project {
  const files = Object.entries(texts).map(([name, text]): ProjectFile => ({ name, bytes: Buffer.from(text) }));
  return { specs: Object.keys(texts), files, plugins: fakePlugins, flags: {}, ...more };
}

async function codes(inputs: Project): Promise<string[]> {
  return (await compile(inputs)).diagnostics.map(({ code, severity }) => `${severity} ${code}`);
}

interface Case {
  readonly file: string;
  readonly code: string;
  readonly pointer: string | undefined;
  readonly line: number | undefined;
  readonly column: number | undefined;
}

function caseOf(file: string): Case {
  const [, code = '', pointer = '', place = ''] =
    /^# expect: (E\d{4}) ("[^"]*"|-) (\S+)/.exec(readFileSync(join(folder, file), 'utf8')) ?? [];
  const [line, column] = place.split(':').map(Number);
  return { file, code, pointer: pointer === '-' ? undefined : JSON.parse(pointer), line: line || undefined, column };
}

const cases = readdirSync(folder).map(caseOf);

describe('each fixture shows its code, and nothing else', () => {
  it.each(cases)('$file', async ({ file, code, pointer, line, column }) => {
    const result = await compile(project({ [file]: readFileSync(join(folder, file), 'utf8') }));
    expect(new Set(result.diagnostics.map((each) => each.code))).toEqual(new Set([code]));
    const [first] = result.diagnostics;
    expect(first?.file).toBe(file);
    expect(first?.pointer).toBe(pointer);
    expect(first?.line).toBe(line);
    if (column !== undefined) expect(first?.column).toBe(column);
    expect(result.ok).toBe(first?.severity === 'warning');
  });
});

describe('each fixture, as gw compile prints it', () => {
  let home: string;
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'gw-errors-'));
    await cp(folder, join(home, 'specs'), { recursive: true });
    await writeFakePlugins(home);
  });
  afterAll(() => rm(home, { recursive: true, force: true }));

  it.each(cases)('$file', async ({ file, code }) => {
    const args = ['-m', join(home, 'gw.yaml'), '-s', join(home, 'specs', file), '-o', join(home, 'out.gwa')];
    const text = (await runCommand(compileCommand, args)).stderr;
    const json = await runCommand(compileCommand, [...args, '--format', 'json']);
    const { diagnostics, error = '' }: { diagnostics: Diagnostic[]; error?: string } = JSON.parse(json.stdout);
    expect(diagnostics.map((each) => each.code)).toContain(code);
    for (const { severity, message, hint, file: name, pointer, line, column, ...rest } of diagnostics) {
      expect(rest).toEqual({ code });
      const at = line === undefined ? '' : `:${line}:${column}`;
      expect(text).toContain(`${name}${at}: ${severity} ${code} ${message}\n`);
      if (pointer !== undefined) expect(text).toContain(`  at ${pointer === '' ? '(document)' : pointer}\n`);
      expect(text).toMatch(/\n {2}hint: .{10,}\n/);
      expect(text).toContain(`  hint: ${hint}\n`);
    }
    const servesNothing = error.startsWith('nothing to serve');
    expect(json.code).toBe(servesNothing || diagnostics.some(({ severity }) => severity === 'error') ? 1 : 0);
  });
});

describe('codes that come from more than one document', () => {
  it('E1010: same path and method in several specs', async () => {
    const result = await compile(project({ 'a.yaml': GOOD, 'b.yaml': GOOD }));
    expect(result.diagnostics).toMatchObject([{ code: 'E1010', file: 'b.yaml', line: 5 }]);
    expect(result.diagnostics[0]?.message).toContain('a.yaml');
  });

  it('E1042: a module that is none, a schema that is none', async () => {
    const bad = fakePlugins.map((plugin) => ({ ...plugin, wasm: Buffer.from('#!/bin/sh') }));
    const each = fakePlugins.map(() => 'error E1042');
    expect(await codes(project({ 'a.yaml': GOOD }, { plugins: bad }))).toEqual(each);
    const schema = fakePlugins.map((plugin) => ({ ...plugin, configSchema: { type: 'many' } }));
    expect(await codes(project({ 'a.yaml': GOOD }, { plugins: schema }))).toEqual(each);
  });

  it('E1043: a signing key that is none', async () => {
    expect(await codes(project({ 'a.yaml': GOOD }, { flags: { signingKey: 'secret' } }))).toEqual(['error E1043']);
  });

  it.each([
    ['two specs of one base name', { 'a/x.yaml': GOOD, 'b/x.yaml': GOOD.replace('/a:', '/b:') }],
    ['openapi', { 'openapi.yaml': GOOD }],
    ['asyncapi', { 'asyncapi.json': GOOD }],
    ['a name that climbs', { '../x.yaml': GOOD, 'y.yaml': GOOD }],
    ['a name that is no plain one', { 'a?b.yaml': GOOD }],
  ])('E1050: %s', async (_, texts) => {
    expect(await codes(project(texts))).toContain('error E1050');
  });

  it('E1071: a bare module takes its type from its exports', async () => {
    const bare = fakePlugins.map(({ manifest: _, configSchema: __, ...plugin }) => plugin);
    expect(await codes(project({ 'a.yaml': GOOD }, { plugins: bare }))).toEqual(['warning E1071']);
    const middleware = bare.map((plugin) => ({ ...plugin, wasm: MIDDLEWARE_WASM }));
    expect(await codes(project({ 'a.yaml': GOOD }, { plugins: middleware }))).toEqual(['warning E1071', 'error E1041']);
  });
});

// docs/decisions.md#patterns-bounded
describe('patterns', () => {
  const patterns = (schema: object) =>
    project({
      'a.json': JSON.stringify({
        openapi: '3.1.0',
        info: { title: 'x', version: '1' },
        paths: {
          '/a': {
            post: {
              requestBody: { content: { 'application/json': { schema } } },
              responses: { 200: { description: 'OK' } },
              'x-gw-dispatch': { name: 'mock' },
            },
          },
        },
      }),
    });
  const said = async (pattern: string) =>
    (await compile(patterns({ type: 'string', pattern }))).diagnostics.map(
      ({ code, severity, message }) => `${severity} ${code} ${message}`,
    );

  it('that an automaton matches have nothing to say', async () => {
    expect(await said('^arn:([a-z0-9-]+:?)+[/]{0,32}$')).toEqual([]);
    expect(await said('^[\\=\\+]+$')).toEqual([]);
  });

  it('of many states are named with the length of the texts that they take', async () => {
    const message = 'pattern "^arn:([a-z0-9-]+:?)+[/]{0,1024}$": texts of more than 60 characters';
    const expected = `warning E1074 ${message} are matched in a helper process; maxLength: 60 keeps them out of it`;
    expect(await said('^arn:([a-z0-9-]+:?)+[/]{0,1024}$')).toEqual([expected]);
  });

  it('that none matches are named for what is in them', async () => {
    expect(await said('^(?=.*\\d)(\\w)\\1$')).toEqual([
      'warning E1006 pattern "^(?=.*\\d)(\\w)\\1$" has the look-ahead (?=.*\\d) and the back-reference \\1',
    ]);
  });

  it('that are none are left out, with the names that they stand for, and not in production builds', async () => {
    expect(await said('(a')).toEqual(['warning E1008 "(a" is not a regular expression, and is left out']);
    const given = patterns({
      type: 'object',
      properties: { b: { type: 'string', pattern: '(b' } },
      patternProperties: { '(a': { type: 'string' }, '^x-': { type: 'number' } },
      additionalProperties: false,
    });
    const result = await compile(given);
    if (!result.ok) throw new Error(JSON.stringify(result.diagnostics));
    const { schemas } = (await readArtifact(result.artifact)).routes;
    expect(Object.values(schemas)).toContainEqual({
      type: 'object',
      properties: { b: { type: 'string' } },
      patternProperties: { '^x-': { type: 'number' } },
    });
    expect(await codes({ ...given, flags: { production: true } })).toEqual(['error E1008', 'error E1008']);
  });
});

// docs/decisions.md#production-builds
describe('production builds', () => {
  const build = (file: string, flags: CompileFlags) =>
    codes(project({ [file]: readFileSync(join(folder, file), 'utf8') }, { flags }));

  it.each(cases.filter(({ code }) => ['E1015', 'E1020', 'E1070', 'E1072'].includes(code)))(
    '$file is an error',
    async ({ file, code }) => {
      expect(await build(file, {})).toEqual([`warning ${code}`]);
      expect(await build(file, { production: true })).toEqual([`error ${code}`]);
    },
  );

  it('forbids plaintext upstreams even where plaintext is allowed', async () => {
    expect(await build('E1031-plaintext.yaml', { allowPlaintext: true })).toEqual([]);
    expect(await build('E1031-plaintext.yaml', { allowPlaintext: true, production: true })).toEqual(['error E1031']);
  });

  it('E1073: forbids skip_signature_validation', async () => {
    const spec = `${GOOD}      security: [{ key: [] }]
      x-gw-middlewares: [{ name: apikey-auth, config: { skip_signature_validation: true } }]
components: { securitySchemes: { key: { type: apiKey, in: header, name: X-API-Key } } }
`;
    expect(await codes(project({ 'a.yaml': spec }))).toEqual([]);
    expect(await codes(project({ 'a.yaml': spec }, { flags: { production: true } }))).toEqual(['error E1073']);
  });
});

describe('the table', () => {
  it('is what docs/error-codes.md says', () => {
    expect(readFileSync(join(root, 'docs', 'error-codes.md'), 'utf8')).toBe(renderErrorCodes());
  });

  it('has a test of each code', () => {
    const here = readFileSync(import.meta.filename, 'utf8');
    // Shown where compiling has limits, and where it is a job: control/src/compile.test.ts, control/src/modules/compilations;
    // beside what checks upstream MCP servers: tools/mcp-upstreams.test.ts; where gw.yaml is read: cli/compile.test.ts; and
    // where configs name files: plugins/config-data.test.ts.
    const elsewhere = ['E1005', 'E1009', 'E1044', 'E1045', 'E1046', 'E1083', 'E1084'];
    const shown = new Set([...cases.map(({ code }) => code), ...elsewhere]);
    const missing = Object.keys(ERROR_CODES).filter(
      (code) => !shown.has(code) && !here.includes(`'${code}: `) && !here.includes(`${code}: %s`),
    );
    expect(missing).toEqual([]);
  });
});
