/** `gw compile` (docs/reference/cli.md#compile, docs/decisions.md#production-builds, docs/decisions.md#exit-codes). */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { Command } from 'commander';
import type { CompileFlags, CompileResult, Diagnostic } from '../compiler/index.ts';
import { readFailure } from '../files/read-failure.ts';
import { replaceFile } from '../files/replace-file.ts';
import { structured } from './command-line/output-format.ts';
import { EXIT_MANIFEST, type Program } from './command-line/program.ts';
import { flag, formatOption, listOption, option } from './command-line/variables.ts';
import { describeDiagnostics, describeInherited, summaryOf, withPaths } from './project/diagnostics-text.ts';
import { withoutRoutes } from './project/no-routes.ts';
import type { FolderProject } from './project/project-folder.ts';
import {
  cacheOptions,
  downloadEgressOption,
  type RemotePluginFlags,
  remotePluginsOf,
} from './project/remote-plugins.ts';

const EXIT_COMPILE = 1;
/** As a path. */
const STANDARD_OUTPUT = '-';

interface Flags extends RemotePluginFlags {
  readonly spec: readonly string[];
  readonly output: string;
  readonly manifest: string;
  readonly allowPlaintext: boolean;
  readonly production: boolean;
  readonly provenanceCommit?: string;
  readonly provenanceSource?: string;
  readonly format: 'text' | 'json' | 'yaml';
}

const HELP = `
Examples:
  $ gw compile --output api.gwa                             # the project in gw.yaml
  $ gw compile -m gw.yaml -s specs/books.yaml -s specs/orders.yaml -o api.gwa --production
  $ gw compile -m gw.yaml -o api.gwa --no-cache --egress-allow plugins.corp.example
  $ GW_SIGNING_KEY=key.pem gw compile -m gw.yaml -o api.gwa --provenance-commit "$(git rev-parse HEAD)"

Every option can come from a variable: --allow-plaintext from GW_ALLOW_PLAINTEXT, and so on. Besides:
  GW_SIGNING_KEY     PEM file of a PKCS#8 Ed25519 private key: signs the artifact
  SOURCE_DATE_EPOCH  seconds since 1970 for compiled_at: the same inputs then give the same bytes

Exit codes: 0 success, 1 the specs do not compile, 2 the manifest or a plugin cannot be used.`;

export function compileCommand(program: Program): Command {
  const command = new Command('compile')
    .description('Compile specs, manifest and plugins into one artifact.')
    .addOption(listOption('-s, --spec <file>', 'spec file, instead of the folder', "the manifest's folder"))
    .addOption(option('-o, --output <path>', 'artifact file to write; - for standard output').makeOptionMandatory())
    .addOption(option('-m, --manifest <path>', 'project manifest').default('gw.yaml'))
    .addOption(flag('--allow-plaintext', 'allow http:// upstream URLs, and plugins from http:// URLs'))
    .addOption(flag('--production', 'turn warnings that matter into errors, and reject plaintext'))
    .addOption(option('--provenance-commit <id>', 'commit id to record in the artifact'))
    .addOption(option('--provenance-source <text>', 'build system to record in the artifact'))
    .addOption(downloadEgressOption())
    .addOption(formatOption(['text', 'json']));
  for (const each of cacheOptions()) command.addOption(each);
  return command.addHelpText('after', HELP).action((flags: Flags) => run(flags, program));
}

/** The compiler is loaded when it is called for: `gw serve` starts without it, sooner. */
async function load() {
  const [{ compile }, manifest, folder] = await Promise.all([
    import('../compiler/index.ts'),
    import('./project/manifest.ts'),
    import('./project/project-folder.ts'),
  ]);
  return { compile, ...manifest, ...folder };
}

async function run(flags: Flags, program: Program): Promise<void> {
  const { compile, ManifestError, readProjectFolder, SpecFileError } = await load();
  const started = performance.now();
  const json = flags.format !== 'text';
  const data = async (value: unknown) => program.stdout((await structured(flags.format, value)) ?? '');
  const fail = async (code: number, message: string, diagnostics: readonly Diagnostic[] = []) => {
    if (json) await data({ ok: false, error: message, diagnostics });
    program.stderr(`gw compile: ${message}\n`);
    program.exit(code);
  };
  const streams = flags.output === STANDARD_OUTPUT;
  if (json && streams) {
    program.stderr(
      `gw compile: the artifact and --format ${flags.format} both go to standard output: give --output a path\n`,
    );
    return program.exit(EXIT_MANIFEST);
  }
  let project: FolderProject;
  try {
    const remotePlugins = await remotePluginsOf(flags, flags.allowPlaintext, program);
    const { manifest, spec: specs } = flags;
    project = await readProjectFolder({
      ...{ manifest, specs, remotePlugins },
      flags: await compileFlags(flags, program.env),
    });
  } catch (error) {
    if (error instanceof ManifestError && error.diagnostic) {
      const { diagnostic } = error;
      if (json) await data({ ok: false, error: error.message, diagnostics: [diagnostic] });
      program.stderr(describeDiagnostics([diagnostic]));
      return program.exit(EXIT_MANIFEST);
    }
    if (error instanceof ManifestError) return fail(EXIT_MANIFEST, `${error.message}${manifestHint(flags)}`);
    if (error instanceof SpecFileError) return fail(EXIT_COMPILE, error.message);
    throw error;
  }
  if (!json)
    program.stderr(
      `compiling ${count(project.specs.length, 'spec')} with ${count(project.plugins.length, 'plugin')}\n`,
    );
  const result = await compile(project);
  const shown = withPaths(result.diagnostics, project.pathOf);
  const nothing = result.ok ? withoutRoutes(result, flags.spec[0]) : null;
  if (nothing !== null) {
    if (!json) program.stderr(describeDiagnostics(shown));
    return fail(EXIT_COMPILE, nothing, result.diagnostics);
  }
  if (result.ok) {
    try {
      if (streams) program.stdout(result.artifact);
      else await replaceFile(flags.output, result.artifact);
    } catch (error) {
      return fail(EXIT_COMPILE, `cannot write ${flags.output}: ${readFailure(error)}`);
    }
  }
  if (json) await data(jsonOf(result, flags.output));
  else {
    program.stderr(describeDiagnostics(shown));
    if (result.ok) program.stderr(describeInherited(result.inherited));
    const say = streams ? program.stderr : program.stdout;
    if (result.ok) say(`${summaryOf(flags.output, result, performance.now() - started)}\n`);
  }
  program.exit(result.ok ? 0 : exitCodeOf(result));
}

/** Returns a hint for users without a project. */
function manifestHint({ manifest }: Flags): string {
  if (existsSync(manifest)) return '';
  return '\n  a project from a document: gw init --from openapi.yaml my-api; a manifest elsewhere: --manifest';
}

/** An unusable plugin or key is not a fault of the specs. */
function exitCodeOf({ diagnostics }: CompileResult): number {
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  return errors.every(({ code }) => code === 'E1042' || code === 'E1043') ? EXIT_MANIFEST : EXIT_COMPILE;
}

async function compileFlags(flags: Flags, env: Program['env']): Promise<CompileFlags> {
  const { ManifestError } = await load();
  const epoch = env['SOURCE_DATE_EPOCH'];
  // The largest time that ECMAScript has.
  if (epoch !== undefined && !(/^\d{1,13}$/.test(epoch) && Number(epoch) <= 8_640_000_000_000)) {
    throw new ManifestError(`SOURCE_DATE_EPOCH is "${epoch}": it must be seconds since 1970`);
  }
  const keyFile = env['GW_SIGNING_KEY'];
  let signingKey: string | undefined;
  try {
    signingKey = keyFile ? await readFile(keyFile, 'utf8') : undefined;
  } catch (error) {
    throw new ManifestError(`cannot read GW_SIGNING_KEY ${keyFile}: ${readFailure(error)}`, { cause: error });
  }
  return {
    allowPlaintext: flags.allowPlaintext,
    production: flags.production,
    ...(flags.provenanceCommit === undefined ? {} : { provenanceCommit: flags.provenanceCommit }),
    ...(flags.provenanceSource === undefined ? {} : { provenanceSource: flags.provenanceSource }),
    ...(signingKey === undefined ? {} : { signingKey }),
    ...(epoch === undefined ? {} : { sourceDateEpoch: Number(epoch) }),
  };
}

function jsonOf(result: CompileResult, output: string) {
  if (!result.ok) return { ok: false, diagnostics: result.diagnostics };
  const { artifactHash: artifact_hash, tarSha256: tar_sha256, manifest, inherited, diagnostics } = result;
  return { ok: true, output, artifact_hash, tar_sha256, routes_count: manifest.routes_count, inherited, diagnostics };
}

function count(n: number, what: string): string {
  return `${n} ${what}${n === 1 ? '' : 's'}`;
}
