/** `gw-control seed-plugins` (docs/reference/cli.md#gw-control-server). */
import { stat } from 'node:fs/promises';
import { printable } from '@gw/gateway/command-line';
import { Option } from 'commander';
import type { Database } from '../db/database.ts';
import type { Seeded } from '../modules/plugins/seed-plugins.ts';
import { databaseUrlOption, migrateOption, withDatabase } from './local-database.ts';
import type { AddCommand, Program } from './program.ts';

interface Flags {
  readonly pluginsDir: string;
  readonly databaseUrl: string;
  readonly migrate: boolean;
  readonly force: boolean;
  readonly verbose: boolean;
}

const HELP = `
Each folder in the plugins directory holds plugin.toml and the .wasm binary, and may hold config-schema.json. The
plugins that come with gw are registered by the server itself.

Examples:
  $ gw-control seed-plugins --database-url postgres://gw@db/gw
  $ gw-control seed-plugins --plugins-dir build/plugins --database-url pglite://./data --force

Exit codes: 0 success, 1 the database cannot be reached, or a plugin was refused; the others are registered all the same.`;

export const seedPluginsCommand: AddCommand = (parent, program) => {
  parent
    .command('seed-plugins')
    .description('Register the plugins of a directory.')
    .addOption(
      new Option('--plugins-dir <dir>', 'directory with plugin folders')
        .default('plugins')
        .env('GW_CONTROL_PLUGINS_DIR'),
    )
    .addOption(databaseUrlOption())
    .addOption(migrateOption())
    .option('--force', 'replace plugins whose content differs: metadata and binary', false)
    .option('--verbose', 'print more about each plugin', false)
    .addHelpText('after', HELP)
    .action(async (flags: Flags) => {
      await mustBeDirectory(flags.pluginsDir);
      const instead = 'Or register plugins with that server: gw-control plugins register.';
      return withDatabase(flags.databaseUrl, instead, (db) => seed(db, flags, program));
    });
};

async function seed(db: Database, flags: Flags, { stdout, stderr }: Program): Promise<void> {
  const { pluginsDir, force, verbose } = flags;
  const [{ Blobs }, { mustBeMigrated }, { PluginChecks }, { seedPlugins }] = await Promise.all([
    import('../db/blobs.ts'),
    import('../db/migrations.ts'),
    import('../modules/plugins/plugin-checks.ts'),
    import('../modules/plugins/seed-plugins.ts'),
  ]);
  if (flags.migrate) await db.migrate();
  else await mustBeMigrated(db);
  const checks = new PluginChecks();
  const counts = new Map<string, number>();
  try {
    for await (const seeded of seedPlugins({ db, blobs: new Blobs(db.kysely) }, checks, pluginsDir, { force })) {
      counts.set(seeded.outcome, (counts.get(seeded.outcome) ?? 0) + 1);
      const say = seeded.outcome === 'refused' ? stderr : stdout;
      say(`${printable(lineOf(seeded))}\n`);
      if (verbose) for (const line of detailsOf(seeded)) say(`  ${printable(line)}\n`);
    }
  } finally {
    await checks.close();
  }
  if (counts.size === 0) stderr(`no plugins in ${printable(pluginsDir)}\n`);
  const refused = counts.get('refused') ?? 0;
  if (refused > 0)
    throw new Error(`${refused} of ${[...counts.values()].reduce((a, b) => a + b)} plugins were refused`);
}

function lineOf(seeded: Seeded): string {
  if (seeded.outcome === 'refused') return `refused ${seeded.folder}: ${seeded.why}`;
  const { name, version } = seeded.plugin.manifest;
  if (seeded.outcome !== 'exists') return `${seeded.outcome} ${name} ${version}`;
  return `skipped ${name} ${version}: it already exists with other content (use --force to replace it)`;
}

function detailsOf(seeded: Seeded): string[] {
  if (seeded.outcome === 'refused') return [];
  const { manifest, wasm, configSchema } = seeded.plugin;
  return [
    `folder: ${seeded.folder}`,
    `type: ${manifest.type}`,
    `host functions: ${manifest.host_functions.join(', ') || 'none'}`,
    `config schema: ${configSchema ? 'yes' : 'no'}`,
    `module: ${wasm.length} bytes${seeded.outcome === 'exists' ? '' : `, sha256 ${seeded.sha256}`}`,
  ];
}

async function mustBeDirectory(path: string): Promise<void> {
  const found = await stat(path).catch(() => null);
  if (!found?.isDirectory()) throw new Error(`there is no directory ${path}: name it with --plugins-dir`);
}
