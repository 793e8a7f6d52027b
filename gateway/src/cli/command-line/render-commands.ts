/** Documentation of the commands of a program, as they are. */
import type { Command, Option } from 'commander';
import { variableOf } from './variables.ts';

/** An index of the program's commands, but for those `without`, and a section for each. */
export function renderCommands(program: Command, without: readonly string[] = []): string {
  const name = program.name();
  const anchor = name.replaceAll(' ', '-');
  const commands = program.commands.filter((command) => !without.includes(command.name()));
  const index = commands.map(
    (command) => `- [\`${name} ${command.name()}\`](#${anchor}-${command.name()}): ${command.description()}`,
  );
  return `${index.join('\n')}

${commands.map((command) => section(command, name)).join('\n')}`;
}

/** Returns the section of a command, with those of its own commands behind it. */
function section(command: Command, program: string): string {
  return [
    sectionOf(command, `${program} ${command.name()}`, '##'),
    ...command.commands.map((each) => sectionOf(each, `${program} ${command.name()} ${each.name()}`, '###')),
  ].join('\n');
}

function sectionOf(command: Command, name: string, heading: string): string {
  const options = command.options.filter(({ hidden }) => !hidden);
  const rows = options.map(row);
  const table =
    rows.length === 0 ? '' : `| option | variable | default | meaning |\n|---|---|---|---|\n${rows.join('\n')}\n\n`;
  return `${heading} ${name}

${command.description()}

\`\`\`
${name} ${command.usage()}
\`\`\`

${table}\`\`\`
${afterHelp(command)}
\`\`\`
`;
}

function row(option: Option): string {
  const variable = variableOf(option);
  const description = option.description.replace(/ ?\(env: GW_\w+\)$/, '');
  const choices = option.argChoices ? `: ${option.argChoices.map((each) => `\`${each}\``).join(', ')}` : '';
  return `| \`${option.flags}\` | ${variable ? `\`${variable}\`` : ''} | ${defaultOf(option)} | ${cell(description + choices)} |`;
}

function defaultOf({ mandatory, defaultValue, defaultValueDescription, negate }: Option): string {
  if (mandatory && defaultValue === undefined) return 'required';
  if (negate) return '`false`';
  if (defaultValueDescription !== undefined) return cell(defaultValueDescription);
  return defaultValue === undefined ? '' : `\`${String(defaultValue)}\``;
}

/** Returns the text of `--help` after the options: examples, exit codes. */
function afterHelp(command: Command): string {
  let text = '';
  command.configureOutput({
    writeOut: (written) => {
      text += written;
    },
  });
  command.outputHelp();
  return text.slice(command.helpInformation().length).trim();
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
