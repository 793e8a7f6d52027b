/**
 * Bundles what the image holds into dist/image: `gw.js`, `gw-control.js`, `gw-operator.js`, the files that workers start from
 * (`*-worker.ts`), and the built-in plugins beside them. The Dockerfile copies that folder and nothing else, and tests
 * start the same programs. What has not changed since the last time is left alone.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, glob, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, join, relative, resolve } from 'node:path';
import { type BuildOptions, type BuildResult, build, type Plugin } from 'esbuild';
import { ENGINE_MEMORY_BYTES } from '../gateway/features/waf/host/engine-memory.ts';
import { builtinPluginFolder, builtinPlugins } from '../gateway/src/plugins/builtin.ts';
import { VERSION } from '../gateway/src/version.ts';
import { DEFAULT_LIMITS } from '../gateway/src/wasm/call/plugin.ts';
import { METERED_FOLDER, meteredFile } from '../gateway/src/wasm/metered-modules.ts';
import { INSPECTOR_FOLDER } from './build-inspector.ts';
import { REFERENCE_FOLDER } from './build-reference.ts';
import { CONSOLE_FOLDER } from './build-ui.ts';
import { writeCodeCache } from './image/code-cache.ts';
import { SCRIPT_PARAMETERS, scriptOf } from './image/program-script.ts';

const root = join(import.meta.dirname, '..');
/** Where the programs lie. */
export const PROGRAMS_FOLDER = join(root, 'dist', 'image');
/** Sources of the image's launcher and of its code cache. */
const IMAGE = join(import.meta.dirname, 'image');
const STAMP = join(root, 'node_modules', '.cache', 'gw-programs.json');
const SDK = join(root, 'gateway', 'sdk');
/** PGlite looks for its files beside the worker that it is bundled into. */
const PGLITE = join(root, 'node_modules', '@electric-sql', 'pglite', 'dist');
const PGLITE_FILES = ['pglite.wasm', 'pglite.data', 'initdb.wasm'];
const GRPC_EXPORTER = '@opentelemetry/exporter-trace-otlp-grpc';

/** What a bundle was made of, and its digest. */
interface Stamp {
  readonly files: readonly string[];
  readonly digest: string;
}

/** Bundles where a source, a library or a plugin has changed. */
export async function buildPrograms({ force = false } = {}): Promise<void> {
  if (!force && (await isCurrent())) return;
  const started = performance.now();
  // Another process may build the same: each writes a folder of its own.
  const temporary = `${PROGRAMS_FOLDER}.${process.pid}`;
  try {
    const { gw, ...others } = PROGRAMS;
    const sources = await bundle(temporary, { ...others, ...APART, ...(await workers()) });
    sources.push(...(await bundleScript(temporary, 'gw', gw)));
    const copied = await copyFiles(temporary);
    await writeCodeCache(temporary);
    await rm(PROGRAMS_FOLDER, { recursive: true, force: true });
    await rename(temporary, PROGRAMS_FOLDER);
    const own = [import.meta.filename, ...['code-cache.ts', 'warm-up.ts'].map((name) => join(IMAGE, name))];
    const files = [...new Set([...sources, ...copied, ...own])].sort();
    const stamp: Stamp = { files, digest: (await digestOf(files)) ?? '' };
    await mkdir(join(STAMP, '..'), { recursive: true });
    await writeFile(STAMP, JSON.stringify(stamp));
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
  process.stderr.write(`gw: bundled the programs (${Math.round(performance.now() - started)} ms)\n`);
}

async function isCurrent(): Promise<boolean> {
  const stamp: Stamp | null = await readFile(STAMP, 'utf8').then(JSON.parse, () => null);
  return stamp !== null && existsSync(join(PROGRAMS_FOLDER, 'gw.js')) && (await digestOf(stamp.files)) === stamp.digest;
}

/** Null where one of the files is gone. Which workers and plugins there are is part of it. */
async function digestOf(files: readonly string[]): Promise<string | null> {
  const digest = createHash('sha256').update(`${process.version}\0`);
  digest.update(JSON.stringify([Object.keys(await workers()), builtinPlugins()]));
  for (const file of files) {
    const bytes = await readFile(file).catch(() => null);
    if (bytes === null) return null;
    digest.update(`${file}\0${bytes.length}\0`).update(bytes);
  }
  return digest.digest('hex');
}

/** Entry points of worker threads and processes by name. */
async function workers(): Promise<Record<string, string>> {
  const found = await Array.fromAsync(
    glob('{gateway/{src,features},{control,operator}/src}/**/*-worker.ts', { cwd: root }),
  );
  return Object.fromEntries(found.sort().map((file) => [basename(file, '.ts'), file]));
}

/** Files of programs by their name. */
export const PROGRAMS = {
  gw: 'gateway/src/main.ts',
  'gw-control': 'control/src/main.ts',
  'gw-operator': 'operator/src/main.ts',
} as const;

const require = createRequire(import.meta.url);
/**
 * Takes llhttp's bytes as bytes where our modules import them: of a CommonJS module that exports a Buffer, the bundle
 * would copy each byte as a property when it starts (50 ms). undici requires the module as it is.
 */
const llhttpAsBytes: Plugin = {
  name: 'llhttp-as-bytes',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^undici\/lib\/llhttp\// }, ({ path }) => ({
      path: require.resolve(path),
      namespace: 'bytes',
    }));
    onLoad({ filter: /./, namespace: 'bytes' }, ({ path }) => ({
      contents: require(path),
      loader: 'binary',
      watchFiles: [path],
    }));
  },
};

const COMMON = {
  absWorkingDir: root,
  plugins: [llhttpAsBytes],
  bundle: true,
  metafile: true,
  platform: 'node',
  target: 'node26',
  minifySyntax: true,
  // One character of a comment that is not Latin-1 makes two bytes of each in memory. Lines stay short for stack traces.
  minifyWhitespace: true,
  lineLimit: 120,
  charset: 'ascii',
  legalComments: 'none',
  logLevel: 'warning',
  // As an ES module it asks for gRPC by a `require` of its own making, which no bundler sees.
  alias: { [GRPC_EXPORTER]: join(root, 'node_modules', GRPC_EXPORTER, 'dist', 'index.cjs') },
} satisfies BuildOptions;

/** Bundles ES modules. Returns the files that went into them. */
export async function bundle(outdir: string, entryPoints: Readonly<Record<string, string>>): Promise<string[]> {
  return sourcesOf(
    await build({
      ...COMMON,
      entryPoints: { ...entryPoints },
      outdir,
      splitting: true,
      format: 'esm',
      // Packages in CommonJS ask for `require`, which an ES module does not have by itself.
      banner: {
        js: "import { createRequire as gwRequire } from 'node:module'; const require = gwRequire(import.meta.url);",
      },
    }),
  );
}

/**
 * Modules that the script imports as files of their own, by name: they have no state that it shares, and most gateways
 * never need these megabytes.
 */
const APART = { otlp: 'gateway/src/telemetry/otlp.ts', undici: 'gateway/src/undici.ts' };
const leavesApart: Plugin = {
  name: 'leaves-apart',
  setup({ onResolve }) {
    const names = new Map(Object.entries(APART).map(([name, file]) => [join(root, file), name]));
    onResolve({ filter: /^\.{1,2}\// }, ({ path, resolveDir }) => {
      const name = names.get(resolve(resolveDir, path));
      return name === undefined ? undefined : { path: `./${name}.js`, external: true };
    });
  },
};

/** Bundles a program as one script, and what starts it (`image/<program>.ts`). Returns the files that went into them. */
async function bundleScript(outdir: string, program: string, entry: string): Promise<string[]> {
  const [, url, file, folder] = SCRIPT_PARAMETERS;
  const launcher = { entryPoints: [join(IMAGE, `${program}.ts`)], outfile: join(outdir, `${program}.js`) };
  return [
    ...sourcesOf(await build({ ...COMMON, ...launcher, format: 'esm' })),
    ...sourcesOf(
      await build({
        ...COMMON,
        plugins: [llhttpAsBytes, leavesApart],
        entryPoints: [entry],
        outfile: join(outdir, scriptOf(program)),
        format: 'cjs',
        define: { 'import.meta.url': url, 'import.meta.filename': file, 'import.meta.dirname': folder },
        banner: { js: `(function(${SCRIPT_PARAMETERS.join(', ')}) { 'use strict'; const module = { exports: {} };` },
        footer: { js: '})' },
      }),
    ),
  ];
}

function sourcesOf({ metafile, warnings }: BuildResult<typeof COMMON>): string[] {
  if (warnings.length > 0) throw new Error('the programs are not bundled as they should be: see the warnings above');
  return Object.keys(metafile.inputs).map((file) => resolve(root, file.replace(/^bytes:/, '')));
}

/** Writes the modules of built-in plugins as a gateway would meter them. */
async function writeMetered(outdir: string): Promise<void> {
  await mkdir(join(outdir, METERED_FOLDER));
  for (const name of builtinPlugins()) {
    const wasm = await readFile(join(builtinPluginFolder(name), `${name}.wasm`));
    const file = meteredFile(wasm, DEFAULT_LIMITS.memoryBytes);
    await writeFile(join(outdir, METERED_FOLDER, file.name), file.bytes);
  }
}

/** What lies beside the programs; the files that were copied. */
const WAF = join(root, 'gateway', 'features', 'waf');

/** Copies the rules that come with `waf`, and its engine as it is and metered. */
async function copyFirewall(outdir: string, copied: string[]): Promise<void> {
  await cp(join(WAF, 'crs'), join(outdir, 'crs'), { recursive: true });
  for await (const file of glob('**/*.*', { cwd: join(WAF, 'crs') })) copied.push(join(WAF, 'crs', file));
  const engine = join(WAF, 'engine', 'engine.wasm');
  await cp(engine, join(outdir, 'waf-engine.wasm'));
  copied.push(engine);
  const metered = meteredFile(await readFile(engine), ENGINE_MEMORY_BYTES);
  await writeFile(join(outdir, METERED_FOLDER, metered.name), metered.bytes);
}

async function copyFiles(outdir: string): Promise<string[]> {
  await writeFile(
    join(outdir, 'package.json'),
    `${JSON.stringify({ name: 'gw', version: VERSION, type: 'module' })}\n`,
  );
  const copied: string[] = [];
  const copy = async (from: string, ...to: string[]) => {
    await cp(from, join(outdir, ...to));
    copied.push(from);
  };
  for (const name of builtinPlugins()) {
    for (const file of ['plugin.toml', 'config-schema.json', `${name}.wasm`]) {
      await copy(join(builtinPluginFolder(name), file), 'plugins', name, file);
    }
  }
  await writeMetered(outdir);
  await copyFirewall(outdir, copied);
  // What `gw plugin` starts from and builds with.
  for await (const file of glob('{assembly,templates}/**/*', { cwd: SDK, withFileTypes: true })) {
    if (!file.isFile()) continue;
    const path = join(file.parentPath, file.name);
    await copy(path, 'sdk', relative(SDK, path));
  }
  for (const file of PGLITE_FILES) await copy(join(PGLITE, file), file);
  for await (const file of glob('**/*.*', { cwd: CONSOLE_FOLDER })) await copy(join(CONSOLE_FOLDER, file), 'ui', file);
  for await (const file of glob('*.*', { cwd: INSPECTOR_FOLDER }))
    await copy(join(INSPECTOR_FOLDER, file), 'inspector', file);
  for await (const file of glob('*.*', { cwd: REFERENCE_FOLDER }))
    await copy(join(REFERENCE_FOLDER, file), 'reference', file);
  await copy(join(root, 'LICENSE'), 'LICENSE');
  return copied;
}
