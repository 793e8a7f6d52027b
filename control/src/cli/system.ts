/** `gw-control health`, `gw-control openapi`, `gw-control completion`. */
import { completionScript, SHELLS, type Shell } from '@gw/gateway/command-line';
import { Argument } from 'commander';
import type { AddCommand } from './program.ts';
import { saveTo } from './save-to.ts';
import { remote, type ServerFlags, Session } from './session.ts';

export const healthCommand: AddCommand = (parent, program) => {
  remote(parent, 'health', 'Check that the server is running, and show its version.', ['system.health']).action(
    async (flags: ServerFlags) => {
      const session = await Session.open(program, flags);
      const health = await session.client.call('system.health');
      session.printFields(health, [
        ['server', session.client.server],
        ['status', health.status],
        ['version', health.version],
      ]);
    },
  );
};

export const openapiCommand: AddCommand = (parent, program) => {
  remote(parent, 'openapi', "Download the server's OpenAPI document.", [])
    .option('-o, --output <file>', 'output file; default standard output')
    .action(async (flags: ServerFlags & { output?: string }) => {
      const session = await Session.open(program, flags);
      await saveTo(await session.client.openapi(), flags.output, program);
    });
};

export const completionCommand: AddCommand = (parent, { stdout }) => {
  parent
    .command('completion')
    .description('Print a shell completion script for gw-control.')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .addHelpText('after', '\nExamples:\n  $ source <(gw-control completion bash)')
    .action((shell: Shell) => stdout(completionScript(shell, parent)));
};
