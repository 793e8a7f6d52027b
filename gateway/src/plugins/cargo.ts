/** Compiles a plugin that is written in Rust, with the cargo of this machine. */
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PluginPackageError } from './package.ts';

const TARGET = 'wasm32-unknown-unknown';
const MISSING = `install Rust (https://rustup.rs) and its target: rustup target add ${TARGET}`;

/**
 * Returns the module of the package in the plugin's folder. Cargo writes to `stderr`. Rejects with PluginPackageError
 * if cargo or its target is missing, or the code does not compile.
 */
export async function compileCargo(
  folder: string,
  env: Readonly<Record<string, string | undefined>>,
  stderr: (text: string) => void,
): Promise<Uint8Array> {
  const name = /^\s*name\s*=\s*"([^"]+)"/m.exec(await readFile(join(folder, 'Cargo.toml'), 'utf8'))?.[1];
  if (name === undefined) throw new PluginPackageError(`${join(folder, 'Cargo.toml')} has no name of a package`);
  const target = join(folder, 'target');
  await cargo(['build', '--release', '--target', TARGET, '--target-dir', target], folder, env, stderr);
  const module = join(target, TARGET, 'release', `${name.replaceAll('-', '_')}.wasm`);
  return readFile(module).catch(() => {
    throw new PluginPackageError(`cargo made no ${module}: set crate-type = ["cdylib"] under [lib] of Cargo.toml`);
  });
}

function cargo(
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string | undefined>>,
  stderr: (text: string) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('cargo', args, { cwd, env: { ...env }, stdio: ['ignore', 'ignore', 'pipe'] });
    let says = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      says = `${says}${text}`.slice(-10_000);
      stderr(text);
    });
    child.once('error', () => reject(new PluginPackageError(`cargo cannot be run: ${MISSING}`)));
    child.once('close', (code) => {
      if (code === 0) return resolve();
      const hint = says.includes('E0463') ? `: ${MISSING}` : '';
      reject(new PluginPackageError(`cargo build ended with ${code}${hint}`));
    });
  });
}
