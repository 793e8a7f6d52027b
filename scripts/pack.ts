/**
 * Packs what is published into dist/packages/*.tgz, or into the folder of `--out`. Node.js does not run TypeScript below
 * node_modules, so each package carries JavaScript, its own sources bundled, its dependencies left to npm, and
 * declarations of what it exports. `--repository` is the address of the sources: npm compares it with where a package
 * with provenance was built.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { build, type Plugin } from 'esbuild';
import { builtinPluginFolder, builtinPlugins } from '../gateway/src/plugins/builtin.ts';
import { INSPECTOR_FOLDER } from './build-inspector.ts';
import { REFERENCE_FOLDER } from './build-reference.ts';
import { CONSOLE_FOLDER } from './build-ui.ts';
import { type DeclaredPackage, writeDeclarations } from './declarations.ts';
import { pluginPackages } from './plugin-packages.ts';
import { internalSpecifier, isAssembly, type PackageJson, publishedExports } from './published-exports.ts';

const root = join(import.meta.dirname, '..');
const { values: options } = parseArgs({ options: { out: { type: 'string' }, repository: { type: 'string' } } });
const out = options.out ?? join(root, 'dist', 'packages');
// Another process may pack the same.
const staging = join(root, 'dist', `staging-${process.pid}`);

/** A workspace, and where it is put together. */
function packageOf(folder: string): DeclaredPackage {
  const json: PackageJson = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
  return { folder, json, target: join(staging, json.name.replace('@', '').replace('/', '-')) };
}

const gateway = packageOf('gateway');
const control = packageOf('control');
const operator = packageOf('operator');
const sdk = packageOf('gateway/sdk');
const libraries = [gateway, control, operator, sdk];

/** Entry points by the name of their output: commands, exports and the files that worker threads start from. */
async function entryPoints({ folder, json }: DeclaredPackage): Promise<Record<string, string>> {
  const entries: Record<string, string> = { ...json.bin };
  for (const each of publishedExports(json)) if (!isAssembly(each)) entries[outputName(each.output)] = each.source;
  for await (const file of glob('{src,features}/**/*-worker.ts', { cwd: join(root, folder) })) {
    entries[basename(file, '.ts')] = `./${file.replaceAll('\\', '/')}`;
  }
  return Object.fromEntries(Object.entries(entries).map(([name, file]) => [name, `./${join(folder, file)}`]));
}

function outputName(output: string): string {
  return basename(output, '.js');
}

const NODE_MAJOR = 26;
const launcherOf = (command: string) => `dist/bin/${command}.js`;

/** npm only warns of another Node.js, on which the command would fail with a SyntaxError: this says what to do. */
function launcher(command: string, name: string): string {
  return `#!/usr/bin/env node
if (Number(process.versions.node.split('.')[0]) >= ${NODE_MAJOR}) await import('../${command}.js');
else {
  process.stderr.write(\`${command}: Node.js ${NODE_MAJOR} or newer is needed, and this is \${process.version}.
Install it (https://nodejs.org), or run: npx -p node@${NODE_MAJOR} -p ${name} ${command}
\`);
  process.exitCode = 1;
}
`;
}

/** `types`: paths of the declarations of exports by their name. */
function publishedJson(json: PackageJson, types: ReadonlyMap<string, string>) {
  const { name, version, description, license, type, bin, dependencies } = json;
  const repository = options.repository === undefined ? {} : { repository: { type: 'git', url: options.repository } };
  const exports = publishedExports(json).map((each): [string, unknown] => {
    const declaration = types.get(each.name);
    return [each.name, declaration ? { types: declaration, default: each.output } : each.output];
  });
  const inexact = Object.entries(dependencies ?? {}).find(([, range]) => !/^\d+\.\d+\.\d+/.test(range));
  if (inexact) throw new Error(`${name}: the version of ${inexact[0]} is not exact (${inexact[1]})`);
  return {
    ...{ name, version, description, license, type, ...repository, engines: { node: `>=${NODE_MAJOR}` } },
    ...(bin ? { bin: Object.fromEntries(Object.keys(bin).map((key) => [key, launcherOf(key)])) } : {}),
    ...(exports.length > 0 ? { exports: Object.fromEntries(exports) } : {}),
    ...(dependencies ? { dependencies } : {}),
  };
}

/** Packages of gw are imported by the names that they publish their parts under for each other. */
const published: Plugin = {
  name: 'published',
  setup({ onResolve }) {
    const jsons = libraries.map(({ json }) => json);
    onResolve({ filter: /^@gw\// }, ({ path }) => ({ path: internalSpecifier(path, jsons) ?? path, external: true }));
  },
};

/** Puts the package's files into its folder, but for package.json; returns the folder. */
async function stage(each: DeclaredPackage, copies: readonly string[]): Promise<string> {
  const { folder, json, target } = each;
  mkdirSync(target, { recursive: true });
  const entries = await entryPoints(each);
  if (Object.keys(entries).length > 0) {
    const { warnings, metafile } = await build({
      absWorkingDir: root,
      entryPoints: entries,
      plugins: [published],
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
  for (const command of Object.keys(json.bin ?? {})) {
    mkdirSync(join(target, 'dist', 'bin'), { recursive: true });
    writeFileSync(join(target, launcherOf(command)), launcher(command, json.name), { mode: 0o755 });
  }
  for (const copy of ['LICENSE', ...copies]) {
    const from = copy === 'LICENSE' ? join(root, copy) : join(root, folder, copy);
    cpSync(from, join(target, basename(copy)), { recursive: true, filter: (path) => !path.endsWith('.test.ts') });
  }
  return target;
}

function writePackageJson({ json, target }: DeclaredPackage, types: ReadonlyMap<string, string> = new Map()): void {
  writeFileSync(join(target, 'package.json'), `${JSON.stringify(publishedJson(json, types), null, 2)}\n`);
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

await stage(gateway, []);
for (const name of builtinPlugins()) {
  const folder = join(gateway.target, 'dist', 'plugins', name);
  mkdirSync(folder, { recursive: true });
  for (const file of pluginFiles(name)) cpSync(join(builtinPluginFolder(name), file), join(folder, file));
}
// What `waf` compiles and runs with.
const waf = join(root, 'gateway', 'features', 'waf');
cpSync(join(waf, 'crs'), join(gateway.target, 'dist', 'crs'), { recursive: true });
cpSync(join(waf, 'engine', 'engine.wasm'), join(gateway.target, 'dist', 'waf-engine.wasm'));
// What `gw plugin` builds with.
for (const name of ['assembly', 'templates']) {
  cpSync(join(root, 'gateway', 'sdk', name), join(gateway.target, 'dist', 'sdk', name), { recursive: true });
}
cpSync(INSPECTOR_FOLDER, join(gateway.target, 'dist', 'inspector'), { recursive: true });
cpSync(REFERENCE_FOLDER, join(gateway.target, 'dist', 'reference'), { recursive: true });
cpSync(join(root, 'README.md'), join(gateway.target, 'README.md'));
await stage(operator, ['../crds']);
// Local mode runs `gw` from beside itself.
writeFileSync(join(operator.target, 'dist', 'gw.js'), "#!/usr/bin/env node\nimport '@gw/gateway/internal/cli';\n");
await stage(control, []);
cpSync(CONSOLE_FOLDER, join(control.target, 'dist', 'ui'), { recursive: true });
await stage(sdk, ['assembly', 'ABI.md']);
const declared = writeDeclarations(libraries, join(staging, 'types'));
for (const each of libraries) writePackageJson(each, declared.get(each.json.name));
const packages = [...libraries];
for (const [name, json] of pluginPackages()) {
  const folder = relative(root, builtinPluginFolder(name));
  const plugin = { folder, json, target: join(staging, `gw-plugin-${name}`) };
  await stage(plugin, pluginFiles(name));
  writePackageJson(plugin);
  packages.push(plugin);
}

const npm = process.env['npm_execpath'];
const [command, args] = npm ? [process.execPath, [npm]] : ['npm', []];
execFileSync(
  command,
  [...args, 'pack', '--loglevel=error', '--pack-destination', out, ...packages.map(({ target }) => target)],
  {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  },
);
rmSync(staging, { recursive: true });
