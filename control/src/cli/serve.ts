/** `gw-control serve` (docs/reference/control-plane.md#serve). */
import { adminAddress, listenAddress, seconds, share, wholeNumber } from '@gw/gateway/command-line';
import { tracingOptions } from '@gw/gateway/telemetry';
import type { KeyPairPaths } from '@gw/gateway/tls-files';
import { type Command, Option } from 'commander';
import { pino } from 'pino';
import { readEnvironment } from '../config.ts';
import type { RetentionOptions } from '../retention/retention.ts';
import { type CompileFlags, compileOptionList, compileOptions } from './compile-options.ts';
import { databaseUrlOption, migrateOption } from './local-database.ts';
import { type OidcFlags, oidcOptionList, oidcOptions } from './oidc-options.ts';
import type { AddCommand } from './program.ts';

interface TlsFlags {
  readonly tlsCert?: string;
  readonly tlsKey?: string;
}

const tlsOptionList = (): readonly Option[] => [
  new Option('--tls-cert <file>', 'serve HTTPS: PEM certificate and its chain; read again when it changes').env(
    'GW_CONTROL_TLS_CERT',
  ),
  new Option('--tls-key <file>', 'PEM key of the certificate').env('GW_CONTROL_TLS_KEY'),
];

/** Returns null for plain HTTP. */
function tlsOptions({ tlsCert: cert, tlsKey: key }: TlsFlags): KeyPairPaths | null {
  if (cert === undefined && key === undefined) return null;
  if (cert === undefined || key === undefined) throw new Error('--tls-cert and --tls-key go together: give both');
  return { cert, key };
}

/** Most `--retention-days`. */
const MAX_DAYS = 36_500;
const days = wholeNumber(1, MAX_DAYS);

/** About retention (docs/decisions.md#retention). */
function retentionOptionList(): readonly Option[] {
  return [
    new Option(
      '--retention-days <days>',
      'days after which artifacts and compilations go that nothing needs any more, or "never"',
    )
      .argParser((text) => (text === 'never' ? null : days(text)))
      .default(30)
      .env('GW_CONTROL_RETENTION_DAYS'),
    new Option('--retention-deployed <number>', 'artifacts of a project that were deployed last and stay all the same')
      .argParser(wholeNumber(1, 1000))
      .default(10)
      .env('GW_CONTROL_RETENTION_DEPLOYED'),
  ];
}

interface Flags extends OidcFlags, CompileFlags, Required<RetentionOptions>, TlsFlags {
  readonly listen: Address;
  readonly adminBind: Address | null;
  readonly databaseUrl: string;
  readonly migrate: boolean;
  readonly drainDelay: number;
  readonly drainTimeout: number;
  readonly otlpEndpoint?: string;
  readonly traceSampling: number;
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
  const command = parent
    .command('serve')
    .description('Run the control plane.')
    .addOption(
      new Option('--listen <address>', 'listen address of the REST API')
        .argParser(listenAddress)
        .default({ host: '127.0.0.1', port: 9090 }, '127.0.0.1:9090')
        .env('GW_CONTROL_LISTEN'),
    )
    .addOption(databaseUrlOption())
    .addOption(migrateOption())
    .addOption(
      new Option(
        '--admin-bind <address>',
        'listen address of /healthz, /readyz and /metrics, which need no credentials, or "off"',
      )
        .argParser(adminAddress)
        .default({ host: '127.0.0.1', port: 9091 }, '127.0.0.1:9091')
        .env('GW_CONTROL_ADMIN_BIND'),
    )
    .addOption(
      new Option('--drain-delay <seconds>', 'after SIGTERM, how long to keep accepting connections')
        .argParser(seconds)
        .default(0)
        .env('GW_CONTROL_DRAIN_DELAY'),
    )
    .addOption(
      new Option('--drain-timeout <seconds>', 'then, timeout for requests in flight to finish')
        .argParser(seconds)
        .default(30)
        .env('GW_CONTROL_DRAIN_TIMEOUT'),
    )
    .addOption(
      new Option(
        '--otlp-endpoint <url>',
        'collector that traces go to by OTLP; also from OTEL_EXPORTER_OTLP_ENDPOINT',
      ).env('GW_CONTROL_OTLP_ENDPOINT'),
    )
    .addOption(
      new Option('--trace-sampling <share>', 'fraction of the traces that start here to record; 0 records none')
        .argParser(share)
        .default(1)
        .env('GW_CONTROL_TRACE_SAMPLING'),
    )
    .addOption(new Option('--log-level <level>', 'minimum level to log').choices(LEVELS).default('info'))
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
      const { listen, adminBind, databaseUrl, migrate, retentionDays, retentionDeployed, drainDelay, drainTimeout } =
        flags;
      // Loaded here, since commands that call a server do not need one.
      const { serve } = await import('../serve.ts');
      // Registered before the start: migrations and the embedded database end properly.
      const asked = stopped();
      const server = await serve(
        {
          ...environment,
          ...compileOptions(flags),
          retentionDays,
          retentionDeployed,
          listen,
          adminBind,
          tls: tlsOptions(flags),
          databaseUrl,
          migrate,
          drainDelayMs: drainDelay * 1000,
          drainTimeoutMs: drainTimeout * 1000,
          oidc: oidcOptions(flags),
          tracing: tracingOptions(flags.otlpEndpoint, flags.traceSampling, env, 'gw-control'),
        },
        log,
      );
      await asked;
      log.info('draining');
      await server.close();
    });
  for (const option of [...tlsOptionList(), ...compileOptionList(), ...retentionOptionList(), ...oidcOptionList()])
    command.addOption(option);
};
