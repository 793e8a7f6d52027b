/** `gw plugin build`: compiles a plugin that is written in AssemblyScript. */
import { existsSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { Command } from 'commander';
import { replaceFile } from '../artifact/replace-file.ts';
import { messageOf } from '../message-of.ts';
import { EXIT_FAILURE, type Program } from './program.ts';

const HELP = `
Examples:
  $ gw plugin build
  $ gw plugin build plugins/hello

The compiler is the one that the plugin's package.json asks for. Plugins in other languages are built by their own
tools: see sdk/ABI.md.

Exit codes: 0 success, 1 it does not compile, or a gateway would not load it.`;

export function pluginBuildCommand(program: Program): Command {
  return new Command('build')
    .description('Compile an AssemblyScript plugin, and check that a gateway loads it.')
    .argument('[folder]', "the plugin's folder", '.')
    .addHelpText('after', HELP)
    .action((folder: string) => run(resolve(folder), program));
}

async function run(folder: string, { stdout, stderr, exit }: Program): Promise<void> {
  try {
    const [{ compileAssembly }, { checkLoads, modulePathOf }] = await Promise.all([
      import('../plugins/assemblyscript.ts'),
      import('./plugin-package.ts'),
    ]);
    const path = await modulePathOf(folder);
    if (!existsSync(join(folder, 'assembly', 'index.ts'))) {
      throw new Error(`${folder} has no assembly/index.ts: only plugins in AssemblyScript are built by this command`);
    }
    const module = await compileAssembly(folder);
    await replaceFile(path, module);
    await checkLoads(folder);
    stdout(`${relative(process.cwd(), path)}: ${module.length} bytes\n`);
  } catch (error) {
    stderr(`gw plugin build: ${messageOf(error)}\n`);
    return exit(EXIT_FAILURE);
  }
  exit(0);
}
