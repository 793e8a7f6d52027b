/**
 * Compiles the built-in plugins and the test fixtures from AssemblyScript, each to <name>.wasm in its own folder.
 * What has not changed since the last time is left alone.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { glob, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { ASSEMBLYSCRIPT_OPTIONS as options } from '../gateway/src/plugins/assemblyscript.ts';

const root = join(import.meta.dirname, '..');
const compiler = join(root, 'node_modules', 'assemblyscript');

/** Folders of the built-in plugins, and of those that only tests use. */
async function pluginFolders(fixtures: boolean): Promise<string[]> {
  const folders: string[] = [];
  const patterns = ['gateway/features/*/plugins/*/assembly/index.ts', 'test/fixtures/plugins/*/assembly/index.ts'];
  for (const pattern of fixtures ? patterns : patterns.slice(0, 1)) {
    for await (const file of glob(pattern, { cwd: root })) folders.push(join(root, file, '..', '..'));
  }
  return folders.sort();
}

export interface PluginBuild {
  /** Also what has not changed. */
  readonly force?: boolean;
  /** Also the plugins that only tests use. */
  readonly fixtures?: boolean;
}

/** Builds every plugin whose sources, SDK or compiler have changed. */
export async function buildPlugins({ force = false, fixtures = false }: PluginBuild = {}): Promise<void> {
  const shared = await sharedDigest();
  const folders = await pluginFolders(fixtures);
  const failures: string[] = [];
  for (const folder of folders) await buildPlugin(folder, shared, force).catch((error) => failures.push(String(error)));
  if (failures.length > 0) throw new Error(failures.join('\n'));
}

/** Of what every plugin depends on. */
async function sharedDigest(): Promise<string> {
  const version: unknown = JSON.parse(await readFile(join(compiler, 'package.json'), 'utf8'));
  const digest = createHash('sha256').update(JSON.stringify([options, version]));
  return (await addSources(digest, join(root, 'gateway', 'sdk', 'assembly'))).digest('hex');
}

type Digest = ReturnType<typeof createHash>;

async function addSources(digest: Digest, folder: string): Promise<Digest> {
  const files: string[] = [];
  for await (const file of glob('**/*.ts', { cwd: folder })) files.push(file);
  for (const file of files.sort()) digest.update(`${file}\0`).update(await readFile(join(folder, file)));
  return digest;
}

async function buildPlugin(folder: string, shared: string, force: boolean): Promise<void> {
  const name = basename(folder);
  const digest = (await addSources(createHash('sha256').update(shared), join(folder, 'assembly'))).digest('hex');
  const target = join(folder, `${name}.wasm`);
  const stampFile = join(
    root,
    'node_modules',
    '.cache',
    'gw-plugins',
    relative(root, folder).replaceAll(/[\\/]/g, '-'),
  );
  const stamp = await readFile(stampFile, 'utf8').catch(() => '');
  if (!force && stamp === digest && existsSync(target)) return;

  const started = performance.now();
  // Another process may build the same: each writes its own file, and renaming is atomic.
  const temporary = join(folder, `${name}.${process.pid}.tmp.wasm`);
  try {
    await compile(join(folder, 'assembly', 'index.ts'), temporary, relative(root, folder));
    const bytes = await readFile(temporary);
    await rename(temporary, target);
    await mkdir(join(stampFile, '..'), { recursive: true });
    await writeFile(`${stampFile}.${process.pid}`, digest);
    await rename(`${stampFile}.${process.pid}`, stampFile);
    const ms = Math.round(performance.now() - started);
    process.stderr.write(`gw: built plugin ${name} (${bytes.length} bytes, ${ms} ms)\n`);
  } finally {
    await rm(temporary, { force: true });
  }
}

/** In this process: the compiler is loaded once, and only where there is something to compile. */
async function compile(source: string, target: string, label: string): Promise<void> {
  const asc = await import('assemblyscript/asc');
  const args = [relative(root, source), '--baseDir', root, '--outFile', relative(root, target), ...options];
  const { error, stderr } = await asc.main(args);
  if (error) throw new Error(`plugin ${label} does not compile:\n${stderr.toString()}`);
}
