/** The published packages, installed from their tarballs into an empty folder and used there. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');
const CONSUMER = join(import.meta.dirname, 'consumer.ts');
/** Commands of the packages start with `env node`: that is this Node.js. */
const env = { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH']}` };

/** What they depend on comes from the registry; without it, and unless CI wants no test left out, they are skipped. */
const reachable = spawnSync('npm', ['ping', '--fetch-retries=0', '--fetch-timeout=5000'], { env }).status === 0;
const skipped = !reachable && process.env['GW_NO_SKIP'] !== '1';

const SPEC = `openapi: 3.1.0
info: { title: Hello, version: "1" }
paths:
  /hello:
    get:
      operationId: hello
      x-gw-dispatch: { name: mock, config: { body: '{"hello":"world"}' } }
      responses: { "200": { description: A greeting } }
`;
/** As a user may have it, without the types of Node.js. */
const TSCONFIG = {
  compilerOptions: {
    ...{ module: 'nodenext', target: 'esnext', lib: ['esnext', 'dom'], types: [] },
    ...{ strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false, noEmit: true },
  },
  files: ['consumer.ts'],
};

interface Installed {
  readonly name: string;
  readonly exports?: { readonly [name: string]: string | { readonly types: string; readonly default: string } };
}

describe.skipIf(skipped)(`packed packages${skipped ? ' (skipped: the npm registry cannot be reached)' : ''}`, () => {
  let folder: string;
  let gateway: ChildProcess | undefined;
  const gw = (...args: string[]) =>
    execFileSync(join(folder, 'node_modules', '.bin', 'gw'), args, {
      cwd: folder,
      env,
      encoding: 'utf8',
      stdio: 'pipe',
    });

  beforeAll(() => {
    execFileSync(process.execPath, [join(ROOT, 'scripts', 'pack.ts')], { cwd: ROOT, env, stdio: 'pipe' });
    folder = mkdtempSync(join(tmpdir(), 'gw-pack-'));
    writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}');
    const packages = join(ROOT, 'dist', 'packages');
    const tarballs = readdirSync(packages).map((name) => join(packages, name));
    execFileSync('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', ...tarballs], {
      ...{ cwd: folder, env, stdio: 'pipe' },
    });
    copyFileSync(CONSUMER, join(folder, 'consumer.ts'));
    mkdirSync(join(folder, 'specs'));
    writeFileSync(join(folder, 'specs', 'hello.yaml'), SPEC);
    writeFileSync(join(folder, 'gw.yaml'), 'specs: specs\nplugins:\n  mock: {}\n');
  });
  afterAll(async () => {
    if (gateway && gateway.exitCode === null) {
      const exited = new Promise((resolve) => gateway?.once('exit', resolve));
      gateway.kill('SIGTERM');
      await exited;
    }
    if (folder) rmSync(folder, { recursive: true, force: true });
  });

  it('carry no TypeScript but declarations and the AssemblyScript sources of the SDK', () => {
    const scope = join(folder, 'node_modules', '@gw');
    const files = readdirSync(scope, { recursive: true, encoding: 'utf8' });
    const sources = [join('plugin-sdk', 'assembly'), join('gateway', 'dist', 'sdk')];
    const isSource = (file: string) => sources.some((folder) => file.startsWith(folder));
    const isDeclaration = (file: string) => /^[^/]+\/dist\/types\/.*\.d\.ts$/.test(file.replaceAll('\\', '/'));
    expect(files.filter((file) => file.endsWith('.ts') && !isSource(file) && !isDeclaration(file))).toEqual([]);
    expect(files).toContain(join('plugin-sdk', 'assembly', 'index.ts'));
    for (const name of readdirSync(scope)) {
      const json: unknown = JSON.parse(readFileSync(join(scope, name, 'package.json'), 'utf8'));
      expect(json).toMatchObject({ name: `@gw/${name}`, engines: { node: '>=26' } });
      expect(existsSync(join(scope, name, 'LICENSE')), name).toBe(true);
    }
  });

  it('declare what they export to users, and the consumer imports all of it', () => {
    const scope = join(folder, 'node_modules', '@gw');
    const imported: string[] = [];
    for (const name of readdirSync(scope)) {
      const json: Installed = JSON.parse(readFileSync(join(scope, name, 'package.json'), 'utf8'));
      for (const [path, target] of Object.entries(json.exports ?? {})) {
        if (path.startsWith('./internal/') || path === './assembly') continue;
        if (typeof target === 'string') expect.unreachable(`${json.name} has no declaration of ${path}`);
        expect(existsSync(join(scope, name, target.types)), target.types).toBe(true);
        imported.push(json.name + path.slice(1));
      }
    }
    const consumer = readFileSync(CONSUMER, 'utf8');
    expect([...consumer.matchAll(/from '(@gw\/[^']+)'/g)].map(([, specifier]) => specifier)).toEqual(imported.sort());
  });

  it('compile in a program of a user, whose wrong fields do not', () => {
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(TSCONFIG));
    const { stdout } = spawnSync(join(ROOT, 'node_modules', '.bin', 'tsc'), ['-p', '.'], {
      cwd: folder,
      env,
      encoding: 'utf8',
    });
    expect(stdout).toBe('');
  });

  it('do in that program what they declare', () => {
    writeFileSync(
      join(folder, 'run.js'),
      `import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { asks, compiles, manifests, tests } from './consumer.ts';
const plugin = dirname(createRequire(import.meta.url).resolve('@gw/plugin-mock/plugin.toml'));
const results = [await compiles(), await tests(plugin), await asks('http://127.0.0.1:1'), manifests];
console.log(JSON.stringify(results));`,
    );
    const text = execFileSync(process.execPath, ['run.js'], { cwd: folder, env, encoding: 'utf8' });
    const [compiled, tested, asked, manifests]: readonly unknown[] = JSON.parse(text);
    expect([compiled, tested, asked]).toEqual(['1 of 1, true', 'answered', 0]);
    expect(manifests).toEqual([
      {
        apiVersion: 'gw.dev/v1alpha1',
        kind: 'ApiSpec',
        metadata: { name: 'hello', labels: { app: 'hello' } },
        spec: { source: { inline: expect.any(String) } },
      },
      expect.objectContaining({ kind: 'PluginRef' }),
      expect.objectContaining({ kind: 'GatewayProject' }),
      expect.objectContaining({ kind: 'Deployment', spec: { project: 'hello', artifact: { latest: true } } }),
    ]);
  });

  it('compile a project and serve it, with the specs that a worker renders', async () => {
    expect(gw('compile', '-m', 'gw.yaml', '-o', 'api.gwa')).toMatch(/^api\.gwa: 1 routes, plugins: mock, sha256:/);
    gateway = spawn(
      join(folder, 'node_modules', '.bin', 'gw'),
      ['serve', '--artifact', 'api.gwa', '--listen', '127.0.0.1:0', '--admin-bind', 'off'],
      { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const address = await listening(gateway);
    const answer = await fetch(`http://${address}/hello`);
    expect([answer.status, await answer.text()]).toEqual([200, '{"hello":"world"}']);
    const specs = await fetch(`http://${address}/__gw/specs/openapi?format=json`);
    expect(await specs.json()).toMatchObject({ paths: { '/hello': { get: { operationId: 'hello' } } } });
  });

  it('say which Node.js their commands need, and how to get it', () => {
    const bin = join(folder, 'node_modules', '@gw', 'operator', 'dist', 'bin');
    expect(readdirSync(bin).sort()).toEqual(['gw-operator.js', 'kubectl-gw.js']);
    const older = `Object.defineProperty(process, 'versions', { value: { node: '20.20.2' } });
      await import(${JSON.stringify(pathToFileURL(join(bin, 'gw-operator.js')))});`;
    const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', older], {
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([1, expect.stringContaining('npx -p node@26 -p @gw/operator gw-operator')]);
  });

  it('start, build, test and pack a plugin, with the compiler that its package.json asks for', () => {
    const run = (...args: string[]) =>
      execFileSync(join(folder, 'node_modules', '.bin', 'gw'), ['plugin', ...args], {
        cwd: folder,
        env,
        encoding: 'utf8',
        stdio: 'pipe',
      });
    run('init', 'hello');
    expect(() => run('build', 'hello')).toThrow(/npm install --save-dev assemblyscript@/);
    execFileSync('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline'], {
      cwd: join(folder, 'hello'),
      env,
      stdio: 'pipe',
    });
    expect(run('build', 'hello')).toMatch(/hello\.wasm: \d+ bytes/);
    expect(run('test', 'hello')).toContain('4 passed, 0 failed');
    expect(run('pack', 'hello')).toMatch(/hello-0\.1\.0\.tar\.gz: \d+ bytes/);
  });

  it('have the operator, with its CRDs', () => {
    const operator = join(folder, 'node_modules', '.bin', 'gw-operator');
    const crds = execFileSync(operator, ['crds'], { cwd: folder, env, encoding: 'utf8' });
    expect(crds).toContain('gatewayprojects.gw.dev');
    expect(readdirSync(join(folder, 'node_modules', '@gw', 'operator', 'crds'))).toHaveLength(4);
    // What local mode runs as a gateway pod.
    const entry = join(folder, 'node_modules', '@gw', 'operator', 'dist', 'gw.js');
    expect(execFileSync(process.execPath, [entry, '--version'], { env, encoding: 'utf8' })).toMatch(
      /^\d+\.\d+\.\d+\n$/,
    );
  });
});

/** The address that the gateway says it listens on. */
function listening(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    if (!child.stdout) return reject(new Error('the process has no output'));
    createInterface(child.stdout).on('line', (text) => {
      const line: { msg?: string; listen?: string } = JSON.parse(text);
      if (line.msg === 'serving' && line.listen) resolve(line.listen);
    });
    child.once('exit', (code) => reject(new Error(`gw serve exited with ${code}`)));
  });
}
