/** `gw manifests` (docs/reference/cli.md#manifests): the Kubernetes objects of a project. */
import { Command } from 'commander';
import { replaceFile } from '../files/replace-file.ts';
import { structured } from './command-line/output-format.ts';
import { EXIT_FAILURE, EXIT_MANIFEST, type Program } from './command-line/program.ts';
import { option } from './command-line/variables.ts';
import { describeDiagnostics, withPaths } from './project/diagnostics-text.ts';
import {
  cacheOptions,
  downloadEgressOption,
  type RemotePluginFlags,
  remotePluginsOf,
} from './project/remote-plugins.ts';

interface Flags extends RemotePluginFlags {
  readonly manifest: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly output: string;
}

/** As a path. */
const STANDARD_OUTPUT = '-';

const HELP = `
Examples:
  $ gw manifests --output k8s.yaml
  $ gw manifests --name shop --namespace shop | kubectl apply --server-side -f -

Documents become ApiSpecs, plugins of the project PluginRefs with a ConfigMap each, and gw.yaml a GatewayProject. The
operator compiles them into the artifact that gw compile makes. Values of env:// come from a Secret, whose name and keys
are printed.

Exit codes: 0 success, 1 the specs do not compile, or do not fit into objects, 2 the manifest or a plugin cannot be used.`;

export function manifestsCommand(program: Program): Command {
  const command = new Command('manifests')
    .description('Write the Kubernetes objects of a project.')
    .addOption(option('-m, --manifest <path>', 'project manifest').default('gw.yaml'))
    .addOption(option('--name <name>', "name of the GatewayProject; default: the name of the manifest's folder"))
    .addOption(option('-n, --namespace <name>', 'namespace of the objects; default: none, so that kubectl chooses'))
    .addOption(option('-o, --output <path>', 'file to write; - for standard output').default('-'))
    .addOption(downloadEgressOption());
  for (const each of cacheOptions()) command.addOption(each);
  return command.addHelpText('after', HELP).action((flags: Flags) => run(flags, program));
}

async function run(flags: Flags, program: Program): Promise<void> {
  // The compiler is loaded when it is called for: `gw serve` starts without it, sooner.
  const [{ NotInObjects, objectsOfProject }, { ManifestError }, { SpecFileError }] = await Promise.all([
    import('./project/project-objects.ts'),
    import('./project/manifest.ts'),
    import('./project/project-folder.ts'),
  ]);
  const fail = (code: number, message: string) => {
    program.stderr(`gw manifests: ${message}\n`);
    program.exit(code);
  };
  try {
    const remotePlugins = await remotePluginsOf(flags, false, program);
    const { objects, diagnostics, pathOf, notes } = await objectsOfProject({ ...flags, remotePlugins });
    program.stderr(describeDiagnostics(withPaths(diagnostics, pathOf)));
    if (!objects) return program.exit(EXIT_FAILURE);
    const text = (await Promise.all(objects.map((each) => structured('yaml', each)))).join('---\n');
    if (flags.output === STANDARD_OUTPUT) program.stdout(text);
    else await replaceFile(flags.output, Buffer.from(text));
    const next = flags.output === STANDARD_OUTPUT ? [] : [`next: kubectl apply --server-side -f ${flags.output}`];
    program.stderr([...notes, ...next].map((line) => `${line}\n`).join(''));
    program.exit(0);
  } catch (error) {
    if (error instanceof ManifestError) return fail(EXIT_MANIFEST, error.message);
    if (error instanceof SpecFileError || error instanceof NotInObjects) return fail(EXIT_FAILURE, error.message);
    throw error;
  }
}
