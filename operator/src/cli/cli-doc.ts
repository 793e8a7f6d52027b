/** Renders docs/operator-cli.md from the commands as they are. */
import { renderCommands } from '@gw/gateway/command-line';
import { readEnvironment } from '../config.ts';
import { kubectlGwCommand } from '../kubectl/command.ts';
import type { Program } from '../program.ts';
import { gwOperatorCommand } from './gw-operator.ts';

export function renderOperatorCli(): string {
  const nobody: Program = {
    environment: readEnvironment({}, false),
    stdout: () => {},
    stderr: () => {},
    stopped: () => new Promise(() => {}),
    endWith: () => {},
    gwEntry: '',
  };
  const operator = gwOperatorCommand(nobody);
  const plugin = kubectlGwCommand(nobody).name('kubectl gw');
  return `# The command lines of the operator

Generated from the commands by \`npm run generate\`; \`--help\` says the same. \`kubectl gw\` is the program \`kubectl-gw\` on
the path, which is \`gw-operator\` by another name: \`gw-operator rollback\` and \`gw-operator kubectl rollback\` are the same. [The guide](kubernetes.md) shows them at
work.

${renderCommands(plugin)}
${renderCommands(operator, ['kubectl', ...plugin.commands.map((command) => command.name())])}`;
}
