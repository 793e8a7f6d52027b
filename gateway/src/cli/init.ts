/** `gw init` (docs/reference/cli.md#init): a project that compiles and answers as it is. */

import { existsSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { Command } from 'commander';
import { messageOf } from '../text/message-of.ts';
import { upstreamUrl } from './command-line/options.ts';
import { EXIT_FAILURE, type Program } from './command-line/program.ts';
import { option, presence } from './command-line/variables.ts';
import type { ProjectOfDocument } from './project/project-of-document.ts';
import {
  plaintextFlags,
  STARTER_PLUGINS,
  TEMPLATES,
  type Template,
  templateSpec,
} from './project/project-templates.ts';

interface Flags {
  readonly template: Template;
  readonly fetchPlugins: boolean;
  readonly from?: string;
  readonly upstream?: string;
}

const GITIGNORE = '*.gwa\n*.pem\n.env\ntarget/\nplugins/*.wasm\nplugins/*/*.wasm\n';

const HELP = `
Examples:
  $ gw init demo && cd demo
  $ gw dev

  $ gw init --from openapi.yaml --upstream https://api.example.com my-api
  $ gw init --from openapi.yaml                              # a folder named for its title, answered with its examples
  $ gw init --template minimal --fetch-plugins

Exit codes: 0 success, 1 the folder exists and is not empty, or cannot be written, or the document cannot be served.`;

export function initCommand(program: Program): Command {
  return new Command('init')
    .description('Create a project: manifest, spec, folder of plugins.')
    .argument('[name]', 'project folder, new or empty (default: this one; with --from, named for the title)')
    .addOption(option('-t, --template <name>', 'starter spec').choices(TEMPLATES).default('basic'))
    .addOption(presence('--fetch-plugins', 'copy the mock and http-upstream plugins into plugins/', program))
    .addOption(option('--from <document>', 'spec file to make the project of, with what it refers to'))
    .addOption(
      option('--upstream <url>', 'with --from: server that operations are passed on to').argParser(upstreamUrl),
    )
    .addHelpText('after', HELP)
    .action((name: string | undefined, flags: Flags) => run(name, flags, program));
}

async function run(given: string | undefined, flags: Flags, { stdout, stderr, exit }: Program): Promise<void> {
  if (flags.upstream !== undefined && flags.from === undefined) {
    stderr('gw init: --upstream goes with --from: gw init --from openapi.yaml --upstream https://api.example.com\n');
    return exit(EXIT_FAILURE);
  }
  let project: ProjectOfDocument | null = null;
  try {
    if (flags.from !== undefined) project = await documentProject(flags.from, flags.upstream);
  } catch (error) {
    stderr(`gw init: ${messageOf(error)}\n`);
    return exit(EXIT_FAILURE);
  }
  const name = given ?? project?.name ?? '.';
  const folder = resolve(name);
  try {
    await makeFolder(folder);
    if ((await readdir(folder)).length > 0) {
      stderr(`gw init: ${folder} is not empty: give the name of a new folder\n`);
      return exit(EXIT_FAILURE);
    }
    const plugins = flags.fetchPlugins ? await fetchedPlugins(stderr) : [];
    const files: (readonly [string, string | Uint8Array])[] = [
      ...(project?.files ?? templateFiles(flags.template, basename(folder) || 'api', plugins.length > 0)),
      ['.gitignore', GITIGNORE],
      ...plugins,
    ];
    await mkdir(join(folder, 'plugins'));
    for (const [file, content] of files) {
      await mkdir(dirname(join(folder, file)), { recursive: true });
      await writeFile(join(folder, file), content, { flag: 'wx' });
    }
  } catch (error) {
    stderr(`gw init: cannot write ${folder}: ${messageOf(error)}\n`);
    return exit(EXIT_FAILURE);
  }
  const enter = name === '.' ? '' : `  cd ${name}\n`;
  stdout(`created ${folder}\n${project?.notes ?? ''}next:\n${enter}  gw dev\n`);
  const [compile, serve] = plaintextFlags(flags.upstream);
  stdout(
    `  gw compile --manifest gw.yaml --output api.gwa${compile}\n  gw serve --artifact api.gwa${serve}\n  gw manifests | kubectl apply -f -\n`,
  );
  if (!project) stdout('  curl http://localhost:8080/health\n');
  exit(0);
}

/** The compiler is loaded when it is called for. */
async function documentProject(path: string, upstream: string | undefined): Promise<ProjectOfDocument> {
  const { projectOfDocument } = await import('./project/project-of-document.ts');
  return projectOfDocument(path, upstream);
}

function templateFiles(template: Template, title: string, hasPlugins: boolean): (readonly [string, string])[] {
  return [
    ['gw.yaml', manifest(hasPlugins)],
    ['specs/api.yaml', templateSpec(template, title)],
  ];
}

/**
 * Makes a folder with its parents. The recursive `mkdir` of Node.js loops forever if the system denies that an existing
 * folder exists, as below /proc.
 */
async function makeFolder(folder: string): Promise<void> {
  const missing: string[] = [];
  for (let at = folder; !existsSync(at); at = dirname(at)) missing.unshift(at);
  for (const each of missing) await mkdir(each);
}

/** Returns files of the plugins by their path in the project; empty if a plugin is unavailable. */
async function fetchedPlugins(warn: Program['stderr']): Promise<(readonly [string, Uint8Array])[]> {
  const { builtinPluginFiles } = await import('../plugins/builtin.ts');
  const { PluginPackageError } = await import('../plugins/package.ts');
  try {
    return STARTER_PLUGINS.flatMap((name) =>
      [...builtinPluginFiles(name)].map(([file, bytes]) => [`plugins/${name}/${file}`, bytes] as const),
    );
  } catch (error) {
    if (!(error instanceof PluginPackageError)) throw error;
    warn(`gw init: the plugins cannot be fetched, plugins/ stays empty: ${error.message}\n`);
    return [];
  }
}

/** A plugin without a path is the built-in one (docs/decisions.md#plugins-declared). */
function manifest(fetched: boolean): string {
  const entries = STARTER_PLUGINS.map(
    (name) => `  ${name}: ${fetched ? `{ path: plugins/${name}/${name}.wasm }` : '{}'}\n`,
  );
  return `# The project: where its specs are, and which plugins they may use.\nspecs: specs\nplugins:\n${entries.join('')}`;
}
