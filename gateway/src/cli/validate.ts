/**
 * `gw validate` (docs/reference/cli.md#validate): specs by themselves, without a manifest. Checks that need one, or
 * flags of the build, are left to `gw compile`: undeclared plugins, named upstreams, plaintext.
 */
import { existsSync } from 'node:fs';
import { relative } from 'node:path';
import { Command } from 'commander';
import type { Diagnostic, Project } from '../compiler/index.ts';
import { printable } from '../text/printable.ts';
import { list } from './command-line/options.ts';
import { structured } from './command-line/output-format.ts';
import { EXIT_FAILURE, EXIT_MANIFEST, type Program } from './command-line/program.ts';
import { formatOption, option } from './command-line/variables.ts';
import { describeDiagnostics, withPaths } from './project/diagnostics-text.ts';

interface Flags {
  readonly spec: readonly string[];
  readonly format: 'text' | 'json' | 'yaml';
}

interface FileResult {
  /** As given. */
  readonly file: string;
  readonly valid: boolean;
  readonly errors: readonly Diagnostic[];
  readonly warnings: readonly Diagnostic[];
}

const HELP = `
Examples:
  $ gw validate                             # the specs of gw.yaml
  $ gw validate openapi.yaml
  $ gw validate specs/*.yaml --format json
  $ gw validate --spec specs/books.yaml

It says what gw compile says of the documents, whether operations have dispatchers or not. What depends on the manifest
is left to gw compile: undeclared plugins, named upstreams, plaintext.

Exit codes: 0 all specs are valid, 1 one is not, 2 gw.yaml has an error.`;

const MANIFEST = 'gw.yaml';
/** A plugin that the built-in ones are not among is the manifest's to declare, as are named upstreams. */
const OF_THE_MANIFEST: readonly string[] = ['E1033', 'E1040'];

export function validateCommand(program: Program): Command {
  return new Command('validate')
    .description('Check specs and their extensions, without a manifest.')
    .argument('[file...]', 'spec files (default: those of gw.yaml)')
    .addOption(
      option('-s, --spec <file>', 'spec file, as the argument (repeatable)').argParser(list).default([], 'none'),
    )
    .addOption(formatOption(['text', 'json']))
    .addHelpText('after', HELP)
    .action((given: readonly string[], flags: Flags) => run({ ...flags, spec: [...given, ...flags.spec] }, program));
}

async function run({ spec, format }: Flags, { stdout, stderr, exit }: Program): Promise<void> {
  const files = spec.length > 0 ? [...new Set(spec)] : await specsHere();
  if ('exit' in files) {
    stderr(`gw validate: ${files.message}\n`);
    return exit(files.exit);
  }
  const findings = new Map<string, readonly Diagnostic[]>();
  for (const file of files) findings.set(file, await diagnosticsOf([file]));
  const conflicts = files.length > 1 ? await conflictsBetween(files, findings) : [];
  const results = files.map((file) => {
    const all = [...(findings.get(file) ?? []), ...conflicts.filter((each) => each.file === file)];
    return resultOf(file, all);
  });
  const invalid = results.filter(({ valid }) => !valid).length;
  const summary = { total: results.length, valid: results.length - invalid, invalid };
  stdout((await structured(format, { results, summary })) ?? describe(results, summary));
  exit(invalid === 0 ? 0 : EXIT_FAILURE);
}

interface NoSpecs {
  readonly exit: number;
  readonly message: string;
}

/** Returns the paths of the specs that the manifest in this folder names. */
async function specsHere(): Promise<readonly string[] | NoSpecs> {
  if (!existsSync(MANIFEST)) {
    const message = `there is no ${MANIFEST} here: name at least one file, such as: gw validate openapi.yaml`;
    return { exit: EXIT_FAILURE, message };
  }
  const [{ readManifest, ManifestError }, { specsOfManifest, SpecFileError }] = await Promise.all([
    import('./project/manifest.ts'),
    import('./project/project-folder.ts'),
  ]);
  try {
    const specs = await specsOfManifest(MANIFEST, await readManifest(MANIFEST));
    return specs.map((path) => relative('', path));
  } catch (error) {
    if (error instanceof SpecFileError) return { exit: EXIT_FAILURE, message: error.message };
    if (error instanceof ManifestError) return { exit: EXIT_MANIFEST, message: error.message };
    throw error;
  }
}

function resultOf(file: string, diagnostics: readonly Diagnostic[]): FileResult {
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  const warnings = diagnostics.filter(({ severity }) => severity === 'warning');
  return { file, valid: errors.length === 0, errors, warnings };
}

/** Routing conflicts are the only fault that a spec has together with another (E1010). */
async function conflictsBetween(
  files: readonly string[],
  alone: ReadonlyMap<string, readonly Diagnostic[]>,
): Promise<readonly Diagnostic[]> {
  const known = new Set([...alone.values()].flat().map(keyOf));
  return (await diagnosticsOf(files)).filter((each) => each.code === 'E1010' && !known.has(keyOf(each)));
}

function keyOf({ code, file, pointer }: Diagnostic): string {
  return JSON.stringify([code, file, pointer]);
}

/**
 * Returns diagnostics of specs compiled together, without those that depend on a manifest; files are named as given.
 */
async function diagnosticsOf(given: readonly string[]): Promise<readonly Diagnostic[]> {
  const [
    { builtinPlugins, compile, loadBuiltinPlugin },
    { ManifestError },
    { readSpecs, SpecFileError, withPlainNames },
  ] = await Promise.all([
    import('../compiler/index.ts'),
    import('./project/manifest.ts'),
    import('./project/project-folder.ts'),
  ]);
  let sources: Pick<Project, 'specs' | 'files'>;
  let pathOf: (name: string) => string;
  try {
    const { pathOf: pathIn, ...read } = await readSpecs(given);
    const { renamed, ...plain } = withPlainNames(read);
    sources = plain;
    pathOf = (name) => pathIn(renamed.get(name) ?? name);
  } catch (error) {
    // ManifestError: a spec lies in a folder with too many files.
    if (!(error instanceof SpecFileError || error instanceof ManifestError)) throw error;
    const hint = 'Give the path of a file that can be read.';
    return [
      { code: 'E1002', severity: 'error', message: error.message, hint, ...(given[0] ? { file: given[0] } : {}) },
    ];
  }
  const plugins = builtinPlugins().map((name) => loadBuiltinPlugin(name));
  const { diagnostics } = await compile({ ...sources, plugins, flags: { allowPlaintext: true } });
  return withPaths(
    diagnostics.filter(({ code }) => !OF_THE_MANIFEST.includes(code)),
    pathOf,
  );
}

function describe(
  results: readonly FileResult[],
  { total, valid, invalid }: { readonly total: number; readonly valid: number; readonly invalid: number },
): string {
  const lines = results.map(({ file, valid: ok, errors, warnings }) => {
    const text = describeDiagnostics([...errors, ...warnings]);
    return `${printable(file)}: ${ok ? 'valid' : 'invalid'}\n${text}`;
  });
  return `${lines.join('')}${total} spec${total === 1 ? '' : 's'}: ${valid} valid, ${invalid} invalid\n`;
}
