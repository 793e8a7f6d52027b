/**
 * Packs what is published into dist/packages/*.tgz. Node.js does not run TypeScript below node_modules, so each
 * package carries JavaScript: its own sources bundled, its dependencies left to npm.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { build } from 'esbuild';
import { CONSOLE_FOLDER } from './build-ui.ts';

const root = join(import.meta.dirname, '..');
const out = join(root, 'dist', 'packages');
const staging = join(root, 'dist', 'staging');

interface PackageJson {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly type: string;
  readonly bin?: Readonly<Record<string, string>>;
  readonly exports?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
}

function packageJson(folder: string): PackageJson {
  return JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
}

/** Exports that stay as they are: AssemblyScript is compiled by whoever builds a plugin. */
function isSource(target: string): boolean {
  return target.includes('/assembly/');
}

/** Entry points by the name of their output: commands, exports and the files that worker threads start from. */
async function entryPoints(folder: string, { bin = {}, exports = {} }: PackageJson): Promise<Record<string, string>> {
  const entries: Record<string, string> = {};
  for (const [name, target] of Object.entries(bin)) entries[name] = target;
  const taken = new Set(Object.values(bin));
  for (const [name, target] of Object.entries(exports)) {
    if (!taken.has(target) && !isSource(target)) entries[outputOf(name)] = target;
  }
  for await (const file of glob('src/**/*-worker.ts', { cwd: join(root, folder) })) {
    entries[basename(file, '.ts')] = `./${file.replaceAll('\\', '/')}`;
  }
  return Object.fromEntries(Object.entries(entries).map(([name, file]) => [name, `./${join(folder, file)}`]));
}

function outputOf(name: string): string {
  return name === '.' ? 'index' : name.slice(2).replaceAll('/', '-');
}

/** Where the published package has what `target` is in the checkout. */
function publishedTarget(json: PackageJson, name: string, target: string): string {
  if (isSource(target)) return target;
  const command = Object.entries(json.bin ?? {}).find(([, file]) => file === target)?.[0];
  return `./dist/${command ?? outputOf(name)}.js`;
}

function publishedJson(json: PackageJson) {
  const { name, version, description, license, type, bin, exports, dependencies } = json;
  const inexact = Object.entries(dependencies ?? {}).find(([, range]) => !/^\d+\.\d+\.\d+/.test(range));
  if (inexact) throw new Error(`${name}: the version of ${inexact[0]} is not exact (${inexact[1]})`);
  const rewrite = (targets: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(targets).map(([key, to]) => [key, publishedTarget(json, key, to)]));
  return {
    ...{ name, version, description, license, type, engines: { node: '>=26' } },
    ...(bin ? { bin: Object.fromEntries(Object.keys(bin).map((key) => [key, `dist/${key}.js`])) } : {}),
    ...(exports ? { exports: rewrite(exports) } : {}),
    ...(dependencies ? { dependencies } : {}),
  };
}

/** Puts the package's files into a folder of their own; returns the folder. */
async function stage(folder: string, copies: readonly string[]): Promise<string> {
  const json = packageJson(folder);
  const target = join(staging, json.name.replace('@', '').replace('/', '-'));
  mkdirSync(target, { recursive: true });
  const entries = await entryPoints(folder, json);
  if (Object.keys(entries).length > 0) {
    const { warnings, metafile } = await build({
      absWorkingDir: root,
      entryPoints: entries,
      outdir: join(target, 'dist'),
      bundle: true,
      splitting: true,
      packages: 'external',
      platform: 'node',
      target: 'node26',
      format: 'esm',
      legalComments: 'none',
      logLevel: 'warning',
      metafile: true,
    });
    if (warnings.length > 0) throw new Error(`${json.name}: esbuild warns, see above`);
    // In the checkout every workspace finds every package; installed, only what it names.
    for (const { imports } of Object.values(metafile.outputs)) {
      for (const { path, external } of imports) if (external) checkDeclared(json, path);
    }
  }
  for (const each of ['LICENSE', ...copies]) {
    const from = each === 'LICENSE' ? join(root, each) : join(root, folder, each);
    cpSync(from, join(target, basename(each)), { recursive: true, filter: (path) => !path.endsWith('.test.ts') });
  }
  writeFileSync(join(target, 'package.json'), `${JSON.stringify(publishedJson(json), null, 2)}\n`);
  return target;
}

function checkDeclared({ name, dependencies = {} }: PackageJson, path: string): void {
  // A package finds itself by its name.
  if (path.startsWith('node:') || path.startsWith(`${name}/`)) return;
  const dependency = path
    .split('/')
    .slice(0, path.startsWith('@') ? 2 : 1)
    .join('/');
  if (!Object.hasOwn(dependencies, dependency)) {
    throw new Error(`${name} imports ${path}, and its package.json has no dependency ${dependency}`);
  }
}

const pluginFiles = (name: string) => ['plugin.toml', 'config-schema.json', `${name}.wasm`, 'README.md'];

rmSync(out, { recursive: true, force: true });
rmSync(staging, { recursive: true, force: true });
mkdirSync(out, { recursive: true });

const plugins = readdirSync(join(root, 'gateway', 'plugins')).sort();
const gateway = await stage('gateway', []);
for (const name of plugins) {
  const folder = join(gateway, 'dist', 'plugins', name);
  mkdirSync(folder, { recursive: true });
  for (const file of pluginFiles(name)) cpSync(join(root, 'gateway', 'plugins', name, file), join(folder, file));
}
// What `gw plugin` builds with.
for (const name of ['assembly', 'templates']) {
  cpSync(join(root, 'gateway', 'sdk', name), join(gateway, 'dist', 'sdk', name), { recursive: true });
}
cpSync(join(root, 'README.md'), join(gateway, 'README.md'));
const operator = await stage('operator', ['../crds']);
// Local mode runs `gw` from beside itself.
writeFileSync(join(operator, 'dist', 'gw.js'), "#!/usr/bin/env node\nimport '@gw/gateway/cli';\n");
const control = await stage('control', []);
cpSync(CONSOLE_FOLDER, join(control, 'dist', 'ui'), { recursive: true });
const folders = [gateway, control, operator, await stage('gateway/sdk', ['assembly', 'ABI.md'])];
for (const name of plugins) folders.push(await stage(join('gateway', 'plugins', name), pluginFiles(name)));

const npm = process.env['npm_execpath'];
const [command, args] = npm ? [process.execPath, [npm]] : ['npm', []];
execFileSync(command, [...args, 'pack', '--loglevel=error', '--pack-destination', out, ...folders], {
  cwd: root,
  stdio: ['ignore', 'inherit', 'inherit'],
});
rmSync(staging, { recursive: true });
