/** `gw serve` (reference 1, section 4.3). */

import { Command } from 'commander';
import { messageOf } from '../message-of.ts';
import { SecretError } from '../secrets/secrets.ts';
import { type RunningGateway, startGateway } from '../serve.ts';
import type { ServeOptions } from '../serve-options.ts';
import { createLog, type Level, LOG_LEVELS, type Log, type LogFormat } from '../telemetry/log.ts';
import { tracingOptions } from '../telemetry/tracing-options.ts';
import { CLIENT_AUTH } from '../transport/client-certificate.ts';
import { TLS_VERSIONS } from '../transport/tls.ts';
import { type ControlPlaneFlags, controlPlaneOptions } from './control-plane-options.ts';
import {
  adminAddress,
  list,
  listenAddress,
  logFormatOption,
  logLevelOption,
  seconds,
  share,
  statePrefix,
  wholeNumber,
  workers,
  yesOrNo,
} from './options.ts';
import { EXIT_FAILURE, EXIT_SECRET, type Program } from './program.ts';
import { flag, option } from './variables.ts';

/** What comes from variables alone, or from options and variables together. */
type Environment = 'env' | 'trustedKeys' | 'secretsDir' | 'allowInternalEgress' | 'tracing';

interface Flags extends Omit<ServeOptions, Environment | 'controlPlane'>, ControlPlaneFlags {
  readonly otlpEndpoint?: string;
  readonly traceSampling: number;
  readonly logLevel: Level;
  readonly logFormat: LogFormat;
}

const EXAMPLES = `
Examples:
  $ gw serve --artifact api.gwa
  $ gw serve --artifact api.gwa --listen 127.0.0.1:9000 --dev
  $ gw serve --artifact api.gwa --workers auto
  $ gw serve --artifact api.gwa --state redis://redis.default.svc:6379
  $ gw serve --artifact api.gwa --tls-cert tls.crt --tls-key tls.key
  $ gw serve --artifact api.gwa --tls-cert tls.crt --tls-key tls.key --tls-client-ca ca.crt --tls-client-auth required
  $ gw serve --artifact /artifact --admin-bind 0.0.0.0:8081 --drain-delay 8
  $ GW_API_KEY=... gw serve --control-plane wss://control.example.com/ws/data-plane --project-id <uuid> --cache-dir /var/cache/gw
  $ gw serve --artifact api.gwa --otlp-endpoint http://collector:4318 --trace-sampling 0.1
  $ gw serve --artifact api.gwa --allow-plaintext-upstream --egress-allow 10.0.0.0/8

Every option can come from a variable: --log-level from GW_LOG_LEVEL, and so on.

Signals: SIGTERM and SIGINT drain and stop, SIGUSR1 closes connections with their next answers and serves on (before a
stop), SIGHUP loads artifact and secrets anew, SIGUSR2 turns debug lines on and off again.

Exit codes: 0 clean shutdown, 1 startup error, 13 a secret reference does not resolve.`;

export function serveCommand(program: Program): Command {
  return new Command('serve')
    .description('Serve the API of a compiled artifact.')
    .addOption(
      option('--artifact <path>', 'artifact file, or folder of its parts; with --control-plane what is served first'),
    )
    .addOption(
      option('--listen <address>', 'listen address')
        .argParser(listenAddress)
        .default({ host: '0.0.0.0', port: 8080 }, '0.0.0.0:8080'),
    )
    .addOption(
      option('--workers <count>', 'processes that serve, or "auto" for one for each CPU').argParser(workers).default(1),
    )
    .addOption(
      option(
        '--state <url>',
        'Redis or Valkey with the counters and caches that pods share, such as redis://redis:6379',
      ),
    )
    .addOption(
      option('--state-prefix <name>', 'what keys in it begin with: one for each project that shares a server')
        .argParser(statePrefix)
        .default('gw'),
    )
    .addOption(
      option('--state-timeout-ms <ms>', 'time that the state server may take to answer')
        .argParser(wholeNumber(1, 60_000))
        .default(250),
    )
    .addOption(flag('--dev', 'verbose problem documents, plaintext upstreams allowed'))
    .addOption(logLevelOption())
    .addOption(logFormatOption('json'))
    .addOption(
      option('--otlp-endpoint <url>', 'collector that traces go to by OTLP; also from OTEL_EXPORTER_OTLP_ENDPOINT'),
    )
    .addOption(
      option('--trace-sampling <share>', 'share of the traces begun here that is recorded; 0 records none')
        .argParser(share)
        .default(1),
    )
    .addOption(option('--max-body-size <bytes>', 'largest request body').argParser(wholeNumber(0)).default(1_048_576))
    .addOption(option('--max-headers <count>', 'most request headers').argParser(wholeNumber(1, 2000)).default(100))
    .addOption(
      option('--max-header-size <bytes>', 'largest request header')
        .argParser(wholeNumber(64, 1 << 20))
        .default(8192),
    )
    .addOption(
      option('--max-uri-length <bytes>', 'longest URI')
        .argParser(wholeNumber(16, 1 << 20))
        .default(8192),
    )
    .addOption(flag('--allow-plaintext-upstream', 'allow http:// upstreams'))
    .addOption(option('--tls-cert <file>', 'PEM certificate and its chain; read again when it changes'))
    .addOption(option('--tls-key <file>', 'PEM key of the certificate'))
    .addOption(option('--tls-min-version <version>', 'least TLS version').choices(TLS_VERSIONS).default('1.2'))
    .addOption(
      option(
        '--tls-client-ca <file>',
        'PEM certificates of CAs that clients may have theirs from; read again when it changes',
      ),
    )
    .addOption(
      option('--tls-client-auth <mode>', 'whether clients are asked for a certificate')
        .choices(CLIENT_AUTH)
        .default('off'),
    )
    .addOption(
      option('--headers-timeout <seconds>', 'time for a TLS handshake and for a request head')
        .argParser(seconds)
        .default(30),
    )
    .addOption(
      option('--body-timeout <seconds>', 'time without a byte of a request body, 0 for no limit')
        .argParser(seconds)
        .default(30),
    )
    .addOption(
      option('--send-timeout <seconds>', 'time in which a client takes no byte of a response, 0 for no limit')
        .argParser(seconds)
        .default(60),
    )
    .addOption(
      option('--http2-max-streams <count>', 'most streams at once on an HTTP/2 connection')
        .argParser(wholeNumber(1, 100_000))
        .default(100),
    )
    .addOption(
      option('--http2-max-resets <count>', 'most streams that a client may reset at once on an HTTP/2 connection')
        .argParser(wholeNumber(1, 1_000_000))
        .default(1000),
    )
    .addOption(option('--keepalive-timeout <seconds>', 'idle time of a connection').argParser(seconds).default(60))
    .addOption(
      option('--shutdown-timeout <seconds>', 'time for requests in flight to end').argParser(seconds).default(30),
    )
    .addOption(
      option('--drain-delay <seconds>', 'after SIGTERM, time in which connections are still accepted')
        .argParser(seconds)
        .default(0),
    )
    .addOption(
      option('--admin-bind <address>', 'admin address, or "off"')
        .argParser(adminAddress)
        .default({ host: '127.0.0.1', port: 8081 }, '127.0.0.1:8081'),
    )
    .addOption(
      option('--egress-allow <cidr-or-host>', 'open the egress guard for an address range or host (repeatable)')
        .argParser(list)
        .default([], 'none'),
    )
    .addOption(
      option('--app-port <port>', 'port on 127.0.0.1 of the app that this is the sidecar of: upstream://app').argParser(
        wholeNumber(1, 65_535),
      ),
    )
    .addOption(
      option('--trusted-proxies <cidr>', 'proxies whose X-Forwarded-For is believed (repeatable)')
        .argParser(list)
        .default([], 'none'),
    )
    .addOption(option('--expose-health <boolean>', 'serve /__gw/health').argParser(yesOrNo).default(true))
    .addOption(option('--expose-specs <boolean>', 'serve /__gw/specs').argParser(yesOrNo).default(true))
    .addOption(
      option('--plugin-cpu-ms <ms>', 'CPU time of a plugin call').argParser(wholeNumber(1, 60_000)).default(25),
    )
    .addOption(option('--max-connections <count>', 'most client connections').argParser(wholeNumber(1)).default(10_000))
    .addOption(
      option('--max-upstream-response-bytes <bytes>', 'largest upstream body that a plugin may hold whole')
        .argParser(wholeNumber(1))
        .default(16_777_216),
    )
    .addOption(
      option('--max-buffered-bytes <bytes>', 'most bytes of request bodies in memory at once')
        .argParser(wholeNumber(1))
        .default(256 << 20),
    )
    .addOption(
      option('--control-plane <url>', 'WebSocket of the control plane that artifacts come from, path /ws/data-plane'),
    )
    .addOption(option('--project-id <uuid>', 'project in the control plane; needed with --control-plane'))
    .addOption(
      option(
        '--api-key <key>',
        "the project's data-plane key; better in the variable, where no list of processes shows it",
      ),
    )
    .addOption(option('--api-key-file <file>', 'file of that key, in place of the key; read again for each connection'))
    .addOption(
      option(
        '--control-plane-ca <pem>',
        'certificates that the control plane is checked by, PEM or a file of it (default: those that the system trusts)',
      ),
    )
    .addOption(
      option(
        '--control-plane-wait <seconds>',
        'time at most in which it is not ready before it serves what the control plane wants',
      )
        .argParser(seconds)
        .default(0),
    )
    .addOption(option('--data-plane-name <name>', 'name in the control plane (default: the host name)'))
    .addOption(
      option('--data-plane-label <name=value>', 'label in the control plane (repeatable)')
        .argParser(list)
        .default([], 'none'),
    )
    .addOption(
      option('--cache-dir <folder>', 'keeps the last good artifact of the control plane, for when that is away'),
    )
    .addHelpText('after', EXAMPLES)
    .action((flags: Flags) => run(flags, program));
}

async function run(flags: Flags, { env, stderr, exit, onSignal }: Program): Promise<void> {
  const { apiKey: _, apiKeyFile: _file, controlPlaneCa: _ca, controlPlaneWait: _wait, ...plain } = flags;
  const log = createLog(levelOf(flags.logLevel, env['RUST_LOG']), flags.logFormat);
  let gateway: RunningGateway;
  try {
    gateway = await startGateway(
      {
        ...plain,
        controlPlane: controlPlaneOptions(flags),
        env,
        tracing: tracingOptions(flags.otlpEndpoint, flags.traceSampling, env),
        trustedKeys: list(env['GW_TRUSTED_PUBKEY'] ?? '', []),
        secretsDir: env['GW_SECRETS_DIR'] || undefined,
        allowInternalEgress: ['1', 'true'].includes(env['GW_ALLOW_INTERNAL_EGRESS'] ?? ''),
      },
      { log, stderr },
    );
  } catch (error) {
    await log.flush();
    stderr(`gw serve: ${messageOf(error)}\n`);
    return exit(error instanceof SecretError ? EXIT_SECRET : EXIT_FAILURE);
  }
  let stopping = false;
  const stop = () => {
    // A second signal means now.
    if (stopping) return exit(EXIT_FAILURE);
    stopping = true;
    finish(gateway, log).then(exit);
  };
  onSignal('SIGTERM', stop);
  onSignal('SIGINT', stop);
  // In place of Node.js's own, which would open a debugger.
  onSignal('SIGUSR1', () => gateway.beginDrain());
  onSignal('SIGHUP', () => {
    gateway.reload().catch((error: unknown) => {
      const reason = messageOf(error);
      log.logger.error({ reason }, 'reload failed: the previous artifact and secrets go on serving');
    });
  });
  onSignal('SIGUSR2', () => {
    const level = log.level === 'debug' ? log.configuredLevel : 'debug';
    gateway.setLogLevel(level).catch((error: unknown) => {
      log.logger.error({ reason: messageOf(error) }, 'the log level could not be changed');
    });
  });
  // Whoever started us waits for the line that says where we listen.
  await log.flush();
}

/** The exit code. */
async function finish(gateway: RunningGateway, log: Log): Promise<number> {
  let code = 0;
  try {
    await gateway.stop();
  } catch (error) {
    log.logger.error({ err: error }, 'shutdown failed');
    code = EXIT_FAILURE;
  }
  await log.flush();
  return code;
}

/** `RUST_LOG` overrides the level (D25); of its directives only a plain level is meant for us. */
function levelOf(level: Level, override: string | undefined): Level {
  return LOG_LEVELS.find((each) => each === override?.toLowerCase()) ?? level;
}
