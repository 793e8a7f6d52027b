/** `gw plugin build`: compiles a plugin that is written in AssemblyScript or Rust. */
import { existsSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { Command } from 'commander';
import { replaceFile } from '../../files/replace-file.ts';
import { messageOf } from '../../text/message-of.ts';
import { EXIT_FAILURE, type Program } from '../command-line/program.ts';

const HELP = `
Examples:
  $ gw plugin build
  $ gw plugin build plugins/hello

AssemblyScript (assembly/index.ts) is compiled by the compiler that the plugin's package.json asks for, Rust (Cargo.toml)
by cargo with its target wasm32-unknown-unknown. Plugins in other languages are built by their own tools: see sdk/ABI.md.

Exit codes: 0 success, 1 it does not compile, or a gateway would not load it.`;

export function pluginBuildCommand(program: Program): Command {
  return new Command('build')
    .description('Compile a plugin in AssemblyScript or Rust, and check that a gateway loads it.')
    .argument('[folder]', "the plugin's folder", '.')
    .addHelpText('after', HELP)
    .action((folder: string) => run(resolve(folder), program));
}

async function run(folder: string, program: Program): Promise<void> {
  const { stdout, stderr, exit } = program;
  try {
    const [{ compileAssembly }, { compileCargo }, { checkLoads, modulePathOf }] = await Promise.all([
      import('../../plugins/assemblyscript.ts'),
      import('../../plugins/cargo.ts'),
      import('./package.ts'),
    ]);
    const path = await modulePathOf(folder);
    const isAssembly = existsSync(join(folder, 'assembly', 'index.ts'));
    if (!isAssembly && !existsSync(join(folder, 'Cargo.toml'))) {
      throw new Error(
        `${folder} has neither assembly/index.ts nor Cargo.toml: build other languages with their own tools`,
      );
    }
    const module = isAssembly ? await compileAssembly(folder) : await compileCargo(folder, program.env, stderr);
    await replaceFile(path, module);
    await checkLoads(folder);
    stdout(`${relative(process.cwd(), path)}: ${module.length} bytes\n`);
  } catch (error) {
    stderr(`gw plugin build: ${messageOf(error)}\n`);
    return exit(EXIT_FAILURE);
  }
  exit(0);
}
