/** Compiles a plugin from AssemblyScript with the SDK that comes with this gateway. */
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CLOCK, NOTHING_TO_AWAIT } from '../wasm/sdk-advice.ts';
import { PluginPackageError } from './package.ts';

/** The compiler that plugins are built with; `gw plugin init` asks for it. */
export const ASSEMBLYSCRIPT_VERSION = '0.28.20';

/** Without assertions, traps for `abort` instead of importing it, and initialisers exported: see sdk/ABI.md. */
export const ASSEMBLYSCRIPT_OPTIONS = [
  '--optimizeLevel', '3', '--shrinkLevel', '0', '--noAssert', '--runtime', 'stub',
  '--initialMemory', '1', '--exportStart', '_initialize', '--use', 'abort=', '--enable', 'simd',
]; // biome-ignore format: one option after the other

/** In the source tree, or beside the bundle that contains this file. */
const SDK = import.meta.filename.endsWith('.ts')
  ? join(import.meta.dirname, '..', '..', 'sdk')
  : join(import.meta.dirname, 'sdk');

/**
 * Returns a folder of the SDK that comes with this gateway. Throws PluginPackageError if this installation lacks it.
 */
export function sdkFolder(name: 'assembly' | 'templates'): string {
  const folder = join(SDK, name);
  if (!existsSync(folder)) {
    throw new PluginPackageError(
      `this gw came without its plugin SDK (looked in ${folder}): install @gw/gateway from npm`,
    );
  }
  return folder;
}

interface Compiler {
  main(
    args: readonly string[],
    host: Host,
  ): Promise<{ readonly error: Error | null; readonly stderr: { toString(): string } }>;
}

interface Host {
  readFile(name: string, baseDir: string): Promise<string | null>;
  writeFile(name: string, contents: string | Uint8Array): Promise<void>;
  listFiles(name: string, baseDir: string): Promise<string[] | null>;
}

/** How sources name the SDK, as the compiler looks for it. */
const SDK_PATH = /(?:^|\/)node_modules\/@gw\/plugin-sdk\/assembly(?:\/|$|(?=\.ts$))/;

/**
 * Compiles the module from `assembly/index.ts` of the plugin's folder. Rejects with PluginPackageError if it does not
 * compile.
 */
export async function compileAssembly(folder: string): Promise<Uint8Array> {
  const compiler = await loadCompiler(folder);
  const sdk = sdkFolder('assembly');
  let module: Uint8Array | null = null;
  const placeOf = (name: string, baseDir: string) => {
    const path = name.split(sep).join('/');
    const match = SDK_PATH.exec(path);
    return match ? join(sdk, path.slice(match.index + match[0].length)) : resolve(baseDir, name);
  };
  const { error, stderr } = await compiler.main(
    ['assembly/index.ts', '--baseDir', folder, '--outFile', 'plugin.wasm', ...ASSEMBLYSCRIPT_OPTIONS],
    {
      readFile: (name, baseDir) => readFile(placeOf(name, baseDir), 'utf8').catch(() => null),
      listFiles: (name, baseDir) => readdir(placeOf(name, baseDir)).catch(() => null),
      async writeFile(name, contents) {
        if (name.endsWith('.wasm') && typeof contents !== 'string') module = contents;
      },
    },
  );
  if (error || module === null) {
    const says = stderr.toString().trim() || (error?.message ?? '');
    throw new PluginPackageError(`it does not compile:\n${[says, ...hintsOf(says)].join('\n')}`);
  }
  return module;
}

/** Parts of TypeScript and of browsers that AssemblyScript lacks, by patterns of the lines at fault. */
const HINTS: readonly { readonly line: RegExp; readonly says: string }[] = [
  { line: /\b(async|await|fetch|Promise|setTimeout)\b/, says: NOTHING_TO_AWAIT },
  { line: /\bnew Date\(\)/, says: CLOCK },
];

/** The compiler shows the lines at fault behind a bar. */
function hintsOf(says: string): readonly string[] {
  const lines = says.split('\n').filter((line) => line.includes('│'));
  return HINTS.filter(({ line }) => lines.some((each) => line.test(each))).map((hint) => `hint: ${hint.says}`);
}

/** Loads the plugin's own compiler, else the one beside this gateway. */
async function loadCompiler(folder: string): Promise<Compiler> {
  for (const start of [folder, import.meta.dirname]) {
    for (let at = start; ; at = dirname(at)) {
      const file = join(at, 'node_modules', 'assemblyscript', 'dist', 'asc.js');
      if (existsSync(file)) return import(pathToFileURL(file).href);
      if (dirname(at) === at) break;
    }
  }
  throw new PluginPackageError(
    `the AssemblyScript compiler is not installed: run npm install --save-dev assemblyscript@${ASSEMBLYSCRIPT_VERSION}`,
  );
}
