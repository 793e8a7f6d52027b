/** `gw dev` (docs/reference/cli.md#dev): compiles, serves, and does both again when a file changes. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { createLog } from '../../telemetry/log.ts';
import { messageOf } from '../../text/message-of.ts';
import { isColoured } from '../command-line/colour.ts';
import { upstreamUrl, wholeNumber } from '../command-line/options.ts';
import { EXIT_FAILURE, type Program } from '../command-line/program.ts';
import { listOption, option, presence } from '../command-line/variables.ts';
import { cacheOptions } from '../project/remote-plugins.ts';
import { serveOption } from '../serve/serve-flags.ts';
import { type DevFlags, DevServer, type SERVED } from './dev-server.ts';

/** Lines for eyes, and open to the machine itself. */
const STANDARD: Partial<Record<(typeof SERVED)[number], string>> = { logFormat: 'pretty', egressAllow: 'this machine' };

const EXAMPLES = `
Examples:
  $ gw dev                                                   # the project in gw.yaml
  $ gw dev openapi.yaml --mock                               # any document, answered with its examples
  $ gw dev openapi.yaml --mock-auth                          # the same, and 401 without credentials
  $ gw dev openapi.yaml --upstream http://localhost:3000     # any document, in front of your server
  $ gw dev --manifest gw.yaml --listen 127.0.0.1:9000
  $ gw dev specs/books.yaml --egress-allow 10.0.0.0/8

Always in development mode: verbose problem documents, plaintext upstreams and upstreams on this machine allowed.
A change that does not compile is reported, and the previous version stays in use.

With --mock and --upstream, operations that have an error are left out, each with its reason, and the rest is served.
Variables of env:// come from the environment, else from the file .env beside the manifest. An operation that needs one
that is not set answers 503.`;

export function devCommand(program: Program): Command {
  const served = (name: (typeof SERVED)[number]) => serveOption(name, STANDARD[name]);
  const command = new Command('dev')
    .description('Serve a project or a document; recompile and reload it when a file changes.')
    .argument('[document...]', 'spec files, in place of the folder; without a manifest, served as they are')
    .addOption(served('listen'))
    .addOption(option('-m, --manifest <path>', 'project manifest').default('gw.yaml'))
    .addOption(listOption('-s, --spec <file>', 'spec file, as the argument', "the manifest's folder"))
    .addOption(
      presence(
        '--mock',
        'answer with examples and values made from the schemas, in place of every other dispatcher',
        program,
      ),
    )
    .addOption(
      presence(
        '--mock-auth',
        "as --mock, and answer 401 to requests without the credentials that the document's security asks for",
        program,
      ).conflicts('upstream'),
    )
    .addOption(
      option('--upstream <url>', 'pass every operation on to this server, in place of every dispatcher')
        .argParser(upstreamUrl)
        .conflicts('mock'),
    )
    .addOption(served('logLevel'))
    .addOption(served('logFormat'))
    .addOption(served('adminBind'))
    .addOption(
      option('--debounce-ms <ms>', 'delay before compiling after a change')
        .argParser(wholeNumber(0, 60_000))
        .default(300),
    )
    .addOption(served('maxBodySize'))
    .addOption(served('maxHeaders'))
    .addOption(served('maxHeaderSize'))
    .addOption(served('maxUriLength'))
    .addOption(served('egressAllow'));
  for (const each of cacheOptions()) command.addOption(each);
  return command
    .addHelpText('after', EXAMPLES)
    .action((documents: readonly string[], flags: DevFlags) =>
      run({ ...flags, mock: flags.mock || flags.mockAuth, spec: [...documents, ...flags.spec] }, program),
    );
}

async function run(flags: DevFlags, program: Program): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'gw-dev-'));
  const log = await createLog(flags.logLevel, flags.logFormat, 1, isColoured(program.env, 1));
  const server = new DevServer(flags, program, log, join(dir, 'dev.gwa'));
  const end = async (code: number) => {
    await server.stop();
    await rm(dir, { recursive: true, force: true });
    await log.flush();
    program.exit(code);
  };
  program.onSignal('SIGINT', () => void end(0));
  program.onSignal('SIGTERM', () => void end(0));
  try {
    await server.start();
  } catch (error) {
    program.stderr(`gw dev: ${messageOf(error)}\n`);
    await end(EXIT_FAILURE);
  }
}
