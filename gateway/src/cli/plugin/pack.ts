/**
 * `gw plugin pack`: the package that gw.yaml names by URL and hash (docs/reference/cli.md#remote-plugins,
 * docs/reference/plugins.md#packages).
 */
import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Command } from 'commander';
import type { TarEntry } from '../../artifact/tar.ts';
import { fileFault } from '../../files/file-fault.ts';
import { messageOf } from '../../text/message-of.ts';
import { EXIT_FAILURE, type Program } from '../command-line/program.ts';
import { option } from '../command-line/variables.ts';

const HELP = `
Examples:
  $ gw plugin pack
  $ gw plugin pack plugins/hello --output hello.tar.gz

The package holds plugin.toml, config-schema.json, the module and README.md. Equal files give an equal package.

Exit codes: 0 success, 1 something is missing, or a gateway would not load it.`;

export function pluginPackCommand(program: Program): Command {
  return new Command('pack')
    .description('Pack a plugin into one file, and print the lines that add it to gw.yaml.')
    .argument('[folder]', "the plugin's folder", '.')
    .addOption(option('-o, --output <file>', 'package file; default <name>-<version>.tar.gz'))
    .addHelpText('after', HELP)
    .action((folder: string, { output }: { readonly output?: string }) => run(resolve(folder), output, program));
}

async function run(folder: string, output: string | undefined, { stdout, stderr, exit }: Program): Promise<void> {
  try {
    const [
      { checkLoads, manifestOf },
      { readPluginManifest, wasmFileOf },
      { writeTar },
      { compress },
      { replaceFile },
    ] = await Promise.all([
      import('./package.ts'),
      import('../../plugins/package.ts'),
      import('../../artifact/tar.ts'),
      import('../../artifact/gzip.ts'),
      import('../../files/replace-file.ts'),
    ]);
    const manifest = await manifestOf(folder);
    const { name, version } = readPluginManifest(manifest.toString());
    await checkLoads(folder);
    const files = ['plugin.toml', 'config-schema.json', wasmFileOf(manifest.toString())];
    const entries = await Promise.all(files.map((file) => entryOf(folder, file)));
    const readme = await entryOf(folder, 'README.md').catch(() => null);
    const bytes = await compress(await writeTar(readme ? [...entries, readme] : entries));
    const file = output ?? `${name}-${version}.tar.gz`;
    await replaceFile(file, bytes);
    stdout(`${file}: ${bytes.length} bytes\n\nIn gw.yaml, with the address that you publish it at:\n\nplugins:\n`);
    stdout(
      `  ${name}:\n    url: https://plugins.example.com/${file.replace(/^.*\//, '')}\n    sha256: ${hash('sha256', bytes, 'hex')}\n`,
    );
  } catch (error) {
    stderr(`gw plugin pack: ${messageOf(error)}\n`);
    return exit(EXIT_FAILURE);
  }
  exit(0);
}

async function entryOf(folder: string, name: string): Promise<TarEntry> {
  const path = join(folder, name);
  const fault = fileFault(folder, path);
  if (fault !== null) throw new Error(`cannot read ${path}: ${fault}`);
  return { name, bytes: await readFile(path) };
}
