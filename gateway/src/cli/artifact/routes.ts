/** `gw routes`: the routes of an artifact. */
import { Command } from 'commander';
import { structured } from '../command-line/output-format.ts';
import type { Program } from '../command-line/program.ts';
import { renderRoutes, routesOf } from '../command-line/routes-table.ts';
import { formatOption } from '../command-line/variables.ts';
import { openArtifact } from './open-artifact.ts';

interface Flags {
  readonly format: 'table' | 'json' | 'yaml';
}

const HELP = `
Examples:
  $ gw routes api.gwa
  $ gw routes api.gwa --format json

Exit codes: 0 success, 1 the artifact cannot be read or has been changed.`;

export function routesCommand(program: Program): Command {
  return new Command('routes')
    .description('List the routes of an artifact.')
    .argument('<artifact>', 'artifact file, or folder of its parts')
    .addOption(formatOption(['table', 'json']))
    .addHelpText('after', HELP)
    .action((path: string, flags: Flags) => run(path, flags, program));
}

async function run(path: string, { format }: Flags, program: Program): Promise<void> {
  const artifact = await openArtifact('routes', path, [], program);
  if (!artifact) return;
  const routes = routesOf(artifact);
  program.stdout((await structured(format, { routes, count: routes.length })) ?? renderRoutes(routes));
  program.exit(0);
}
