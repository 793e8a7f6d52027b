/** `gw-control serve` (reference 3, section 4). */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { pino } from 'pino';
import { readEnvironment } from '../config.ts';
import { serve } from '../serve.ts';
import type { AddCommand } from './program.ts';

interface Flags {
  readonly listen: Address;
  readonly databaseUrl: string;
  readonly migrate: boolean;
  readonly logLevel: string;
}

interface Address {
  readonly host: string;
  readonly port: number;
}

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error'];

const EXAMPLES = `
Environment: GW_CONTROL_ADMIN_TOKEN (required), GW_CONTROL_ALLOWED_ORIGINS, DATABASE_URL, RUST_LOG.

Examples:
  $ GW_CONTROL_ADMIN_TOKEN=secret gw-control serve --database-url pglite://./data
  $ gw-control serve --database-url postgres://gw@db/gw --listen 0.0.0.0:9090 --migrate=false`;

export const serveCommand: AddCommand = (parent: Command, { env, stopped }) => {
  parent
    .command('serve')
    .description('Run the control plane.')
    .addOption(
      new Option('--listen <address>', 'where the REST API listens')
        .argParser(address)
        .default({ host: '127.0.0.1', port: 9090 }, '127.0.0.1:9090')
        .env('GW_CONTROL_LISTEN'),
    )
    .addOption(databaseUrlOption())
    .addOption(
      new Option('--migrate [boolean]', 'run database migrations that are missing')
        .preset('true')
        .argParser(yesOrNo)
        .default(true)
        .env('GW_CONTROL_MIGRATE'),
    )
    .addOption(new Option('--log-level <level>', 'least level that is logged').choices(LEVELS).default('info'))
    .addHelpText('after', EXAMPLES)
    .action(async (flags: Flags) => {
      const environment = readEnvironment(env);
      const level = LEVELS.find((each) => each === environment.logLevel?.toLowerCase()) ?? flags.logLevel;
      const log = pino({
        level,
        base: null,
        timestamp: pino.stdTimeFunctions.isoTime,
        formatters: { level: (label) => ({ level: label }) },
      });
      const server = await serve({ ...flags, ...environment }, log);
      await stopped;
      log.info('draining');
      await server.close();
    });
};

export const databaseUrlOption = () =>
  new Option('--database-url <url>', 'postgres://USER:PASSWORD@HOST/DATABASE, or pglite://DIR for the embedded one')
    .env('DATABASE_URL')
    .makeOptionMandatory();

/** `127.0.0.1:9090`, `[::1]:9090`, `:9090` (all addresses). */
function address(text: string): Address {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (!match || port > 65535) throw new InvalidArgumentError('Give an address and port, such as 127.0.0.1:9090.');
  return { host: match[1] ?? (match[2] || '0.0.0.0'), port };
}

function yesOrNo(text: string): boolean {
  if (text === 'true' || text === '1') return true;
  if (text === 'false' || text === '0') return false;
  throw new InvalidArgumentError('Give true or false.');
}
