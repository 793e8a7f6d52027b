/**
 * Bundles the console (control/ui) into control/dist/ui: index.html and files that are named by their content, each
 * also compressed. What has not changed since the last time is left alone.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, glob, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build, type Metafile } from 'esbuild';

const root = join(import.meta.dirname, '..');
const source = join(root, 'control', 'ui');
/** Where gw-control looks for it; beside its bundle where it is published. */
export const CONSOLE_FOLDER = join(root, 'control', 'dist', 'ui');
/** The console's own, and those of other folders that run in it. */
const SOURCES = [
  'control/ui/**/*.*',
  'control/src/client/*.ts',
  'gateway/inspector/fields.ts',
  'gateway/src/text/nearest-name.ts',
  'gateway/src/{json,spec,tools}/*.ts',
];
const STAMP = join(root, 'node_modules', '.cache', 'gw-ui');
/** The last steps save 4 in 100 and take ten times as long. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 8 } };

/** Sizes in bytes, compressed with gzip. */
export interface ConsoleSizes {
  /** What the first page loads. */
  readonly first: number;
  /** With what comes later, such as the editor. */
  readonly all: number;
}

/** Builds it where a source or a library has changed; null where nothing has. */
export async function buildUi({ force = false } = {}): Promise<ConsoleSizes | null> {
  const digest = await digestOfSources();
  const stamp = await readFile(STAMP, 'utf8').catch(() => '');
  if (!force && stamp === digest && existsSync(join(CONSOLE_FOLDER, 'index.html'))) return null;
  const started = performance.now();
  // Another process may build the same: each writes a folder of its own, and renaming is atomic.
  const temporary = `${CONSOLE_FOLDER}.${process.pid}`;
  try {
    const sizes = await bundle(temporary);
    await rm(CONSOLE_FOLDER, { recursive: true, force: true });
    await rename(temporary, CONSOLE_FOLDER).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
    await mkdir(join(STAMP, '..'), { recursive: true });
    await writeFile(STAMP, digest);
    const ms = Math.round(performance.now() - started);
    const kilobytes = (bytes: number) => Math.round(bytes / 1000);
    process.stderr.write(
      `gw: built the console (${kilobytes(sizes.first)} kB at first, ${kilobytes(sizes.all)} kB in all, ${ms} ms)\n`,
    );
    return sizes;
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

/** Of the sources, this script, and the versions of all libraries. */
async function digestOfSources(): Promise<string> {
  const files: string[] = [];
  for await (const file of glob(SOURCES, { cwd: root })) files.push(join(root, file));
  const digest = createHash('sha256');
  for (const file of [...files.sort(), import.meta.filename, join(root, 'package-lock.json')]) {
    digest.update(`${file}\0`).update(await readFile(file));
  }
  return digest.digest('hex');
}

async function bundle(folder: string): Promise<ConsoleSizes> {
  const { metafile, warnings } = await build({
    absWorkingDir: root,
    entryPoints: { console: 'control/ui/main.tsx', style: 'control/ui/styles/console.css' },
    outdir: folder,
    entryNames: 'assets/[name]-[hash]',
    chunkNames: 'assets/[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'browser',
    target: ['chrome123', 'firefox120', 'safari17.5'],
    minify: true,
    legalComments: 'none',
    logLevel: 'warning',
    metafile: true,
  });
  if (warnings.length > 0) throw new Error('esbuild warns about the console, see above');
  const icon = await readFile(join(source, 'icon.svg'));
  const iconFile = `assets/icon-${createHash('sha256').update(icon).digest('hex').slice(0, 8)}.svg`;
  await cp(join(source, 'icon.svg'), join(folder, iconFile));

  const first = loadedFirst(metafile, folder);
  const head = first.map((file) =>
    file.endsWith('.css')
      ? `<link rel="stylesheet" href="/ui/${file}">`
      : basename(file).startsWith('console-')
        ? `<script type="module" src="/ui/${file}"></script>`
        : `<link rel="modulepreload" href="/ui/${file}">`,
  );
  const template = await readFile(join(source, 'index.html'), 'utf8');
  await writeFile(
    join(folder, 'index.html'),
    template.replace('{{icon}}', `/ui/${iconFile}`).replace('{{head}}', head.join('\n')),
  );

  const sizes = { first: 0, all: 0 };
  for (const output of outputsOf(metafile, folder)) {
    const bytes = await readFile(join(folder, output));
    const zipped = gzipSync(bytes, { level: 9 });
    await writeFile(join(folder, `${output}.gz`), zipped);
    await writeFile(join(folder, `${output}.br`), brotliCompressSync(bytes, BROTLI));
    sizes.all += zipped.length;
    if (first.includes(output)) sizes.first += zipped.length;
  }
  return sizes;
}

/** Paths from the folder. */
function outputsOf({ outputs }: Metafile, folder: string): readonly string[] {
  return Object.keys(outputs).map((path) => fromFolder(path, folder));
}

function fromFolder(path: string, folder: string): string {
  return path.slice(path.indexOf(`${basename(folder)}/`) + basename(folder).length + 1);
}

/** Styles, the entry and what it imports at once. */
function loadedFirst({ outputs }: Metafile, folder: string): readonly string[] {
  const files = new Set<string>();
  const add = (path: string) => {
    if (files.has(path)) return;
    files.add(path);
    for (const { path: imported, kind } of outputs[path]?.imports ?? []) {
      if (kind === 'import-statement') add(imported);
    }
  };
  for (const [path, { entryPoint }] of Object.entries(outputs)) {
    if (entryPoint === 'control/ui/main.tsx' || entryPoint?.endsWith('.css')) add(path);
  }
  return [...files].map((path) => fromFolder(path, folder));
}
