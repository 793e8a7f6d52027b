/** `kubectl gw completion`: scripts that complete the program's name, `kubectl-gw`. */
import { completionScript, SHELLS, type Shell } from '@gw/gateway/command-line';
import { Argument } from 'commander';
import type { AddCommand } from '../program.ts';

export const completionCommand: AddCommand = (parent, { stdout }) => {
  parent
    .command('completion')
    .description('print a shell completion script for kubectl-gw')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .addHelpText(
      'after',
      `
Examples:
  $ source <(kubectl gw completion bash)
  $ kubectl gw completion zsh > "\${fpath[1]}/_kubectl-gw"`,
    )
    .action((shell: Shell) => stdout(completionScript(shell, parent)));
};
