/** `gw serve` (docs/reference/cli.md#serve). */

import { Command } from 'commander';
import type { ServeFlags } from '../../options/serve-options.ts';
import { SecretError } from '../../secrets/secrets.ts';
import { type RunningGateway, startGateway } from '../../serve/serve.ts';
import { createLog, type Level, LOG_LEVELS, type Log } from '../../telemetry/log.ts';
import { messageOf } from '../../text/message-of.ts';
import { isColoured } from '../command-line/colour.ts';
import { EXIT_FAILURE, EXIT_SECRET, type Program } from '../command-line/program.ts';
import { optionNames, serveOption, serveOptions } from './serve-flags.ts';

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

Every option can be set by an environment variable: --log-level by GW_LOG_LEVEL, and so on.

Signals: SIGTERM and SIGINT drain and stop, SIGUSR1 closes each connection with its next response but keeps serving
(before a stop), SIGHUP reloads artifact and secrets, SIGUSR2 turns debug logging on and off.

Exit codes: 0 clean shutdown, 1 startup error, 13 a secret reference does not resolve.`;

export function serveCommand(program: Program): Command {
  const command = new Command('serve').description('Serve the API of a compiled artifact.');
  for (const name of optionNames()) command.addOption(serveOption(name));
  return command.addHelpText('after', EXAMPLES).action((flags: ServeFlags) => run(flags, program));
}

async function run(flags: ServeFlags, { env, stderr, exit, onSignal }: Program): Promise<void> {
  const log = await createLog(levelOf(flags.logLevel, env['RUST_LOG']), flags.logFormat, 1, isColoured(env, 1));
  let gateway: RunningGateway;
  try {
    gateway = await startGateway(serveOptions(flags, env), { log, stderr });
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
      log.logger.error({ reason }, 'reload failed: still serving the previous artifact and secrets');
    });
  });
  onSignal('SIGUSR2', () => {
    const level = log.level === 'debug' ? log.configuredLevel : 'debug';
    gateway.setLogLevel(level).catch((error: unknown) => {
      log.logger.error({ reason: messageOf(error) }, 'the log level could not be changed');
    });
  });
  // The process that started the gateway waits for the line with its address.
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

/** `RUST_LOG` overrides the level (docs/decisions.md#precedence); of its directives only a plain level applies. */
function levelOf(level: Level, override: string | undefined): Level {
  return LOG_LEVELS.find((each) => each === override?.toLowerCase()) ?? level;
}
