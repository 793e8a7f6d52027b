/** `gw plugin init`: a plugin that builds and passes its tests as it is. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { Command } from 'commander';
import { messageOf } from '../../text/message-of.ts';
import { EXIT_FAILURE, type Program } from '../command-line/program.ts';
import { option } from '../command-line/variables.ts';

const TYPES = ['middleware', 'dispatcher'] as const;
const LANGUAGES = ['assemblyscript', 'rust'] as const;

interface Flags {
  readonly type: (typeof TYPES)[number];
  readonly lang: (typeof LANGUAGES)[number];
}

const HELP = `
Examples:
  $ gw plugin init hello && cd hello && npm install
  $ gw plugin build && gw plugin test
  $ gw plugin init answers --type dispatcher
  $ gw plugin init hello --lang rust && cd hello && gw plugin build && gw plugin test

npm install fetches the AssemblyScript compiler; the SDK comes with gw. Rust needs cargo and its target
wasm32-unknown-unknown; the functions of the gateway are in src/gw.rs.

Exit codes: 0 success, 1 the folder exists and is not empty, cannot be written, or its name is no plugin's.`;

export function pluginInitCommand(program: Program): Command {
  return new Command('init')
    .description('Start a plugin in AssemblyScript or Rust, with tests.')
    .argument('<name>', 'plugin folder, new or empty; its last part is the name')
    .addOption(option('-t, --type <type>', 'plugin type').choices(TYPES).default('middleware'))
    .addOption(option('-l, --lang <language>', 'language of the plugin').choices(LANGUAGES).default('assemblyscript'))
    .addHelpText('after', HELP)
    .action((name: string, flags: Flags) => run(name, flags, program));
}

async function run(given: string, { type, lang }: Flags, { stdout, stderr, exit }: Program): Promise<void> {
  const folder = resolve(given);
  const name = basename(folder);
  try {
    if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name)) {
      throw new Error(`"${name}" is no name of a plugin: use lower-case words with hyphens between them`);
    }
    const { ASSEMBLYSCRIPT_VERSION, sdkFolder } = await import('../../plugins/assemblyscript.ts');
    const templates = sdkFolder('templates');
    const folders = lang === 'rust' ? [join('rust', 'common'), join('rust', type)] : [type];
    await mkdir(folder, { recursive: true });
    if ((await readdir(folder)).length > 0) throw new Error(`${folder} is not empty: give the name of a new folder`);
    const values = { name, assemblyscript: ASSEMBLYSCRIPT_VERSION };
    for (const each of folders) await copyTemplate(join(templates, each), folder, values);
  } catch (error) {
    stderr(`gw plugin init: ${messageOf(error)}\n`);
    return exit(EXIT_FAILURE);
  }
  const install = lang === 'rust' ? 'rustup target add wasm32-unknown-unknown' : 'npm install';
  stdout(`created ${folder}\nnext:\n  cd ${given}\n  ${install}\n  gw plugin build\n  gw plugin test\n`);
  exit(0);
}

/** Files that npm may leave out of packages, by their names in templates. */
const HIDDEN: Readonly<Record<string, string>> = { gitignore: '.gitignore', 'cargo/config.toml': '.cargo/config.toml' };

async function copyTemplate(template: string, folder: string, values: Readonly<Record<string, string>>): Promise<void> {
  const entries = await readdir(template, { recursive: true, withFileTypes: true });
  for (const entry of entries.filter((each) => each.isFile())) {
    const from = join(entry.parentPath, entry.name);
    const path = relative(template, from);
    const to = join(folder, HIDDEN[path.replaceAll('\\', '/')] ?? path);
    const text = (await readFile(from, 'utf8')).replaceAll(/\{\{(\w+)\}\}/g, (all, key) => values[key] ?? all);
    await mkdir(dirname(to), { recursive: true });
    await writeFile(to, text, { flag: 'wx' });
  }
}
