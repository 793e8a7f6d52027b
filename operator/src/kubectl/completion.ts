/** `completion` of `kubectl gw` and of `gw-operator`: scripts that complete the program that was asked. */
import { completionScript, SHELLS, type Shell } from '@gw/gateway/command-line';
import { Argument } from 'commander';
import type { AddCommand } from '../program.ts';

export const completionCommand: AddCommand = (parent, { stdout }) => {
  const program = parent.name();
  const typed = program === 'kubectl-gw' ? 'kubectl gw' : program;
  parent
    .command('completion')
    .description(`Print a shell completion script for ${program}.`)
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .addHelpText(
      'after',
      `
Examples:
  $ source <(${typed} completion bash)
  $ ${typed} completion zsh > "\${fpath[1]}/_${program}"`,
    )
    .action((shell: Shell) => stdout(completionScript(shell, parent)));
};
