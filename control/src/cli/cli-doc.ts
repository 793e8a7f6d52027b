/** Renders docs/control-cli.md from the commands as they are. */
import { PassThrough } from 'node:stream';
import { renderCommands } from '@gw/gateway/command-line';
import type { Command } from 'commander';
import { controlCommand } from './gw-control.ts';

/** Returns the commands for documentation: they can be described, but not run. */
export function describedCommand(): Command {
  return controlCommand({
    env: {},
    output: new PassThrough(),
    stdout: () => {},
    stderr: () => {},
    stdin: async () => Buffer.alloc(0),
    interactive: false,
    stopped: () => new Promise(() => {}),
  });
}

export function renderControlCli(): string {
  return `# The command line of the control plane

Generated from the commands by \`npm run generate\`; \`gw-control <command> --help\` says the same. A value comes from the flag,
else from the variable, else from the context (\`gw-control context\`), else it is the default. The token is never a flag, since
other users of a machine can read those: it comes from \`--token-file\`, from \`GW_CONTROL_TOKEN\`, or from the context.

${renderCommands(describedCommand())}`;
}
