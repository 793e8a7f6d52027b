/** `gw-control migrate`: runs migrations for a server that starts with `--migrate=false`. */
import { dataFormat, oldSpelling } from '@gw/gateway/command-line';
import { formatted } from './formatted.ts';
import { databaseUrlOption, withDatabase } from './local-database.ts';
import type { AddCommand } from './program.ts';

const HELP = `
Safe to repeat, and while servers run. A server migrates at its start by itself, unless it has --migrate=false.

Examples:
  $ gw-control migrate --database-url postgres://gw@db/gw
  $ DATABASE_URL=postgres://gw@db/gw gw-control migrate --format json

Exit codes: 0 the database is up to date, 1 it is not, and the message says why.`;

export const migrateCommand: AddCommand = (parent, { stdout }) => {
  parent
    .command('migrate')
    .description('Run the database migrations that are missing.')
    .addOption(databaseUrlOption())
    .addOption(dataFormat())
    .addOption(oldSpelling('--json', '--format json').implies({ format: 'json' }))
    .addHelpText('after', HELP)
    .action(async ({ databaseUrl, format }: { databaseUrl: string; format: string }) => {
      const instead = 'A server migrates its embedded database at its own start.';
      const { applied } = await withDatabase(databaseUrl, instead, (db) => db.migrate());
      if (format !== 'text') return stdout(formatted(format, { applied }, () => ''));
      for (const name of applied) stdout(`applied ${name}\n`);
      if (applied.length === 0) stdout('nothing to do: the database is up to date\n');
    });
};
