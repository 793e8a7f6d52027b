/** Options of the commands that open the database themselves. */
import { yesOrNo } from '@gw/gateway/command-line';
import { Option } from 'commander';

export const databaseUrlOption = () =>
  new Option('--database-url <url>', 'postgres://USER:PASSWORD@HOST/DATABASE, or pglite://DIR for the embedded one')
    .env('DATABASE_URL')
    .makeOptionMandatory();

export const migrateOption = () =>
  new Option('--migrate [boolean]', 'run database migrations that are missing')
    .preset('true')
    .argParser(yesOrNo)
    .default(true)
    .env('GW_CONTROL_MIGRATE');
