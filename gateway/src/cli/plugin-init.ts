/** `gw plugin init`: a plugin that builds and passes its tests as it is. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { Command } from 'commander';
import { messageOf } from '../message-of.ts';
import { EXIT_FAILURE, type Program } from './program.ts';
import { option } from './variables.ts';

const TYPES = ['middleware', 'dispatcher'] as const;

const HELP = `
Examples:
  $ gw plugin init hello && cd hello && npm install
  $ gw plugin build && gw plugin test
  $ gw plugin init answers --type dispatcher

npm install fetches the AssemblyScript compiler; the SDK comes with gw.

Exit codes: 0 success, 1 the folder exists and is not empty, cannot be written, or its name is no plugin's.`;

export function pluginInitCommand(program: Program): Command {
  return new Command('init')
    .description('Start a plugin in AssemblyScript, with tests.')
    .argument('<name>', 'plugin folder, new or empty; its last part is the name')
    .addOption(option('-t, --type <type>', 'plugin type').choices(TYPES).default('middleware'))
    .addHelpText('after', HELP)
    .action((name: string, { type }: { readonly type: (typeof TYPES)[number] }) => run(name, type, program));
}

async function run(given: string, type: (typeof TYPES)[number], { stdout, stderr, exit }: Program): Promise<void> {
  const folder = resolve(given);
  const name = basename(folder);
  try {
    if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name)) {
      throw new Error(`"${name}" is no name of a plugin: use lower-case words with hyphens between them`);
    }
    const { ASSEMBLYSCRIPT_VERSION, sdkFolder } = await import('../plugins/assemblyscript.ts');
    const template = join(sdkFolder('templates'), type);
    await mkdir(folder, { recursive: true });
    if ((await readdir(folder)).length > 0) throw new Error(`${folder} is not empty: give the name of a new folder`);
    const entries = await readdir(template, { recursive: true, withFileTypes: true });
    for (const entry of entries.filter((each) => each.isFile())) {
      const from = join(entry.parentPath, entry.name);
      // npm leaves files of that name out of packages.
      const to = join(folder, from.slice(template.length + 1).replace(/^gitignore$/, '.gitignore'));
      const text = (await readFile(from, 'utf8'))
        .replaceAll('{{name}}', name)
        .replaceAll('{{assemblyscript}}', ASSEMBLYSCRIPT_VERSION);
      await mkdir(dirname(to), { recursive: true });
      await writeFile(to, text, { flag: 'wx' });
    }
  } catch (error) {
    stderr(`gw plugin init: ${messageOf(error)}\n`);
    return exit(EXIT_FAILURE);
  }
  stdout(`created ${folder}\nnext:\n  cd ${given}\n  npm install\n  gw plugin build\n  gw plugin test\n`);
  exit(0);
}
