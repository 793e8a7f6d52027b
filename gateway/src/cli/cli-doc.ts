/** Renders docs/cli.md from the commands as they are. */

import { renderCommands } from './command-line/render-commands.ts';
import { gwCommand } from './gw.ts';

export async function renderCli(): Promise<string> {
  const nobody = {
    env: {},
    stdin: async () => new Uint8Array(0),
    input: async function* () {},
    stdout: () => {},
    stderr: () => {},
    exit: () => {},
    onSignal: () => {},
  };
  const gw = await gwCommand(nobody);
  return `# The command line

Generated from the commands by \`npm run generate\`; \`gw <command> --help\` says the same. A value comes from the flag, else
from the variable, else it is the default. In variables, lists are separated by commas, and switches are \`true\`, \`false\`,
\`1\` or \`0\`.

${renderCommands(gw)}`;
}
