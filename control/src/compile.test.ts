import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Project, ProjectPlugin } from '@gw/gateway/compiler';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { DISPATCHER_WASM } from '../../test/fixtures/specs/plugins.ts';
import { GW } from '../../test/programs/gw.ts';
import { compileOn, compileProject } from './compile.ts';
import { CompileProcess } from './compile-process.ts';
import { TaskLimitError } from './task-process.ts';

const folders: string[] = [];
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))));

const TOML = '[plugin]\nname = "echo"\nversion = "1.0.0"\ntype = "dispatcher"\n';
const SCHEMA = { type: 'object', properties: { body: { type: 'string', default: '' } } };
const SPEC = `openapi: 3.1.0
info: { title: Books, version: "1" }
paths:
  /books/{id}:
    get:
      parameters: [{ $ref: "parts/id.yaml" }]
      x-gw-dispatch: { name: echo }
`;
const PART = 'name: id\nin: path\nrequired: true\nschema: { type: integer }\n';

const echo: ProjectPlugin = {
  name: 'echo',
  wasm: DISPATCHER_WASM,
  manifest: {
    name: 'echo',
    version: '1.0.0',
    type: 'dispatcher',
    host_functions: [],
    request_body: 'none',
    response_body: 'none',
  },
  configSchema: SCHEMA,
  config: { body: 'hello' },
};

/** Of 400,000 objects: many times its own size in memory. */
function hugeSpec(): string {
  const items = Array.from({ length: 400_000 }, (_, i) => `"k${i}":{"a":[1,2,3]}`).join(',');
  return `{"openapi":"3.1.0","info":{"title":"x","version":"1"},"paths":{},"x-data":{${items}}}`;
}

function project(folder: string, spec = SPEC): Project {
  return {
    specs: [`${folder}books.yaml`],
    files: [
      { name: `${folder}parts/id.yaml`, bytes: Buffer.from(PART) },
      { name: `${folder}books.yaml`, bytes: Buffer.from(spec) },
    ],
    plugins: [echo],
    flags: {},
  };
}

/** Takes some tenths of a second. */
function bigSpec(): string {
  const paths = Array.from({ length: 4000 }, (_, i) => `  /p${i}:\n    get: { x-gw-dispatch: { name: echo } }\n`);
  return `openapi: 3.1.0\ninfo: { title: Big, version: "1" }\npaths:\n${paths.join('')}`;
}

async function gwCompile(): Promise<{ readonly artifact_hash: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'gw-doors-'));
  folders.push(folder);
  await mkdir(join(folder, 'specs', 'parts'), { recursive: true });
  await mkdir(join(folder, 'echo'));
  await writeFile(join(folder, 'specs', 'books.yaml'), SPEC);
  await writeFile(join(folder, 'specs', 'parts', 'id.yaml'), PART);
  await writeFile(join(folder, 'echo', 'echo.wasm'), DISPATCHER_WASM);
  await writeFile(join(folder, 'echo', 'plugin.toml'), TOML);
  await writeFile(join(folder, 'echo', 'config-schema.json'), JSON.stringify(SCHEMA));
  await writeFile(
    join(folder, 'gw.yaml'),
    'specs: specs\nplugins:\n  echo: { path: echo/echo.wasm, config: { body: hello } }\n',
  );
  const child = spawn(
    process.execPath,
    [GW, 'compile', '-m', join(folder, 'gw.yaml'), '-o', join(folder, 'out.gwa'), '--format', 'json'],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  await new Promise((resolve) => child.once('close', resolve));
  return JSON.parse(output);
}

describe('compileProject', () => {
  it('gives the artifact_hash that gw compile gives, whatever folder the door keeps the files in', async () => {
    const [fromCli, fromLibrary, fromFolder] = await Promise.all([
      gwCompile(),
      compileProject(project('')),
      compileProject(project('books-api/')),
    ]);
    expect(fromCli.artifact_hash).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(fromLibrary).toMatchObject({ ok: true, artifactHash: fromCli.artifact_hash });
    expect(fromFolder).toMatchObject({ ok: true, artifactHash: fromCli.artifact_hash });
  });

  it('leaves the bytes of its inputs to the caller', async () => {
    const inputs = project('');
    await compileProject(inputs);
    expect(inputs.files[1]?.bytes.length).toBe(Buffer.byteLength(SPEC));
    expect(echo.wasm.length).toBe(DISPATCHER_WASM.length);
  });

  it('gives diagnostics for what is wrong', async () => {
    const result = await compileProject(project('', SPEC.replace('parts/id', 'parts/missing')));
    expect(result.ok).toBe(false);
    expect(result.diagnostics).toContainEqual(expect.objectContaining({ code: 'E1003', file: 'books.yaml', line: 6 }));
  });

  it('keeps the event loop free', async () => {
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    const result = await compileProject(project('', bigSpec()));
    clearInterval(timer);
    expect(result.ok).toBe(true);
    expect(turns).toBeGreaterThan(5);
  });

  it('says E1005 for a project that takes too long, and compiles the next one', async () => {
    const slow = await compileProject(project('', bigSpec()), { timeoutMs: 1 });
    expect(slow).toMatchObject({ ok: false, diagnostics: [{ code: 'E1005', severity: 'error' }] });
    expect(await compileProject(project(''))).toMatchObject({ ok: true });
  });

  it('says E1005 for one that takes too much memory, and compiles the next one', async () => {
    const large = await compileProject(project('', hugeSpec()), { memoryMb: 24 });
    expect(large).toMatchObject({ ok: false, diagnostics: [{ code: 'E1005' }] });
    expect(await compileProject(project(''))).toMatchObject({ ok: true });
  });
});

describe('in a container with a limit', () => {
  it('a compilation takes half of it at most, and ends with E1005 before the process would', async () => {
    const limit = vi.spyOn(process, 'constrainedMemory').mockReturnValue(200 << 20);
    onTestFinished(() => limit.mockRestore());
    const large = await compileOn(new CompileProcess(), project('', hugeSpec()));
    expect(large).toMatchObject({ ok: false, diagnostics: [{ code: 'E1005' }] });
    expect(large.diagnostics[0]?.message).toMatch(/more than (100|200) MiB of memory/);
  });
});

describe('CompileProcess', () => {
  it('is usable after work that broke it, and refuses work once closed', async () => {
    const compiler = new CompileProcess();
    const limits = { timeoutMs: 30_000, memoryMb: 512 };
    await expect(compiler.compile(project('', bigSpec()), { ...limits, timeoutMs: 1 })).rejects.toThrow(TaskLimitError);
    // Functions cannot be sent to a process: a door's defect, not an input's.
    const broken: Project = Object.assign(project(''), { upstreams: () => {} });
    await expect(compiler.compile(broken, limits)).rejects.toThrow();
    expect(await compiler.compile(project(''), limits)).toMatchObject({ ok: true });
    await compiler.close();
    await expect(compiler.compile(project(''), limits)).rejects.toThrow('closed');
  });
});
