/** `gw inspect`: an artifact's properties and sources (docs/reference/gateway.md#artifact). */
import { Command } from 'commander';
import { type Manifest, VERSION_FIELD } from '../../artifact/format.ts';
import type { Artifact } from '../../artifact/read.ts';
import { structured } from '../command-line/output-format.ts';
import type { Program } from '../command-line/program.ts';
import { table } from '../command-line/table.ts';
import { formatOption } from '../command-line/variables.ts';
import { openArtifact } from './open-artifact.ts';

interface Flags {
  readonly format: 'table' | 'json' | 'yaml';
}

const HELP = `
Examples:
  $ gw inspect api.gwa
  $ gw inspect api.gwa --format json

The JSON has "manifest", which is the artifact's manifest.json, "tar_sha256" and "files".

Exit codes: 0 success, 1 the artifact cannot be read or has been changed.`;

export function inspectCommand(program: Program): Command {
  return new Command('inspect')
    .description('Show what an artifact contains.')
    .argument('<artifact>', 'artifact file, or folder of its parts')
    .addOption(formatOption(['table', 'json']))
    .addHelpText('after', HELP)
    .action((path: string, flags: Flags) => run(path, flags, program));
}

async function run(path: string, { format }: Flags, program: Program): Promise<void> {
  const artifact = await openArtifact('inspect', path, [], program);
  if (!artifact) return;
  const { manifest, tarSha256, specNames } = artifact;
  program.stdout(
    (await structured(format, { manifest, tar_sha256: tarSha256, files: specNames })) ?? describe(artifact),
  );
  program.exit(0);
}

function describe({ manifest, tarSha256, specNames }: Artifact): string {
  const { source_specs, plugins = [] } = manifest;
  const specs = source_specs.map(({ file, type, version, sha256 }) => [file, `${type} ${version}`, sha256]);
  const sources = new Set(source_specs.map(({ file }) => file));
  const references = specNames.filter((name) => !sources.has(name)).map((name) => [name, 'reference', '']);
  const modules = plugins.map(({ name, version, plugin_type, capabilities }) => [
    ...[name, version, plugin_type, capabilities.host_functions.join(', ') || '-'],
  ]);
  return [
    table(summary(manifest, tarSha256)),
    table([['SPEC', 'KIND', 'SHA256'], ...specs, ...references]),
    modules.length === 0 ? '' : table([['PLUGIN', 'VERSION', 'TYPE', 'HOST FUNCTIONS'], ...modules]),
  ]
    .filter((part) => part !== '')
    .join('\n');
}

function summary(manifest: Manifest, tarSha256: string): string[][] {
  const { provenance, signature, signing_public_key, mcp } = manifest;
  return [
    ['artifact hash', manifest.artifact_hash],
    ['tar sha256', tarSha256],
    ['format version', String(manifest[VERSION_FIELD])],
    ['compiled', `${manifest.compiled_at} by gw ${manifest.compiler_version}`],
    ['routes', String(manifest.routes_count)],
    ['signature', signature === undefined ? 'none' : `present, by ${signing_public_key ?? 'an unnamed key'}`],
    ['commit', provenance.commit ?? '-'],
    ['source', provenance.source ?? '-'],
    ['mcp', mcp.enabled ? 'enabled' : 'off'],
  ];
}
