/** `gw completion`: a shell's completions, generated from the commands themselves. */
import { Argument, Command } from 'commander';
import type { Program } from './program.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

const HELP = `
Examples:
  $ source <(gw completion bash)
  $ gw completion zsh > "\${fpath[1]}/_gw"
  $ gw completion fish > ~/.config/fish/completions/gw.fish`;

interface CompletedProgram {
  readonly name: string;
  /** As in the name of a shell function. */
  readonly identifier: string;
  readonly commands: readonly CompletedCommand[];
}

interface CompletedCommand {
  readonly name: string;
  readonly description: string;
  /** Its own options, and those of the commands below it. */
  readonly options: readonly CompletedOption[];
  /** Names of the commands below it. */
  readonly commands: readonly string[];
}

interface CompletedOption {
  /** `-o`, `--output`. */
  readonly flags: readonly string[];
  readonly description: string;
  /** The next word is its value. */
  readonly takesValue: boolean;
  /** Values that it takes; empty if any, then files are offered. */
  readonly choices: readonly string[];
}

export function completionCommand(program: Program): Command {
  const command = new Command('completion')
    .description('Print a shell completion script for gw.')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .addHelpText('after', HELP);
  return command.action((shell: Shell) => {
    if (command.parent) program.stdout(completionScript(shell, command.parent));
    program.exit(0);
  });
}

/** Completes the program's commands, and those right below them, with their options. */
export function completionScript(shell: Shell, program: Command): string {
  const name = program.name();
  return { bash, zsh, fish }[shell]({
    name,
    identifier: name.replaceAll('-', '_'),
    commands: program
      .createHelp()
      .visibleCommands(program)
      .filter((each) => each.name() !== 'help')
      .map(completed),
  });
}

function completed(command: Command): CompletedCommand {
  const options = merged(
    [command, ...command.commands]
      .flatMap((each) => each.options)
      .filter(({ hidden }) => !hidden)
      .map(({ short, long, description, required, argChoices }) => ({
        flags: [short, long].filter((flag) => flag !== undefined),
        description,
        takesValue: required,
        choices: argChoices ?? [],
      })),
  );
  const help = { flags: ['-h', '--help'], description: 'show help', takesValue: false, choices: [] };
  return {
    name: command.name(),
    description: command.description(),
    options: [...options, help],
    commands: command.commands.map((each) => each.name()),
  };
}

/** An option that several of the commands below have is one, with the values of all. */
function merged(options: readonly CompletedOption[]): readonly CompletedOption[] {
  return [...Map.groupBy(options, ({ flags }) => flags.join(' ')).values()].map((same) => ({
    ...(same[0] as CompletedOption),
    choices: [...new Set(same.flatMap(({ choices }) => choices))],
  }));
}

/**
 * Quotes with single quotes, as all three shells read them; fish also reads backslashes there, which these texts lack.
 */
function quoted(text: string): string {
  return `'${text.replaceAll('\\', '').replaceAll("'", '’')}'`;
}

function allFlags({ options }: CompletedCommand): string {
  return options.flatMap(({ flags }) => flags).join(' ');
}

function bash({ name: program, identifier, commands }: CompletedProgram): string {
  const cases = commands.flatMap((command) =>
    command.options
      .filter(({ takesValue }) => takesValue)
      .map(({ flags, choices }) => {
        const reply = choices.length > 0 ? `COMPREPLY=($(compgen -W ${quoted(choices.join(' '))} -- "$word")); ` : '';
        return `    ${flags.map((flag) => `${command.name}:${flag}`).join('|')}) ${reply}return ;;`;
      }),
  );
  const words = commands
    .filter((each) => each.commands.length > 0)
    .map(
      (each) =>
        `    ${each.name}:2) COMPREPLY=($(compgen -W ${quoted(each.commands.join(' '))} -- "$word")); return ;;`,
    );
  const flags = commands.map((each) => `    ${each.name}) flags=${quoted(allFlags(each))} ;;`);
  return `# bash completion of ${program}
_${identifier}() {
  # An empty answer leaves it to bash, which offers files.
  COMPREPLY=()
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} command=\${COMP_WORDS[1]} flags=
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W ${quoted(commands.map(({ name }) => name).join(' '))} -- "$word"))
    return
  fi
  case "$command:$COMP_CWORD" in
${words.join('\n')}
  esac
  case "$command:$before" in
${cases.join('\n')}
  esac
  case "$command" in
${flags.join('\n')}
  esac
  case "$word" in
    -*) COMPREPLY=($(compgen -W "$flags" -- "$word")) ;;
  esac
}
complete -o default -F _${identifier} ${program}
`;
}

function zsh({ name: program, identifier, commands }: CompletedProgram): string {
  const names = commands.map(({ name, description }) => `    ${quoted(`${name}:${description}`)}`);
  const cases = commands.map(({ name, options, commands: below }) => {
    const specs = options.flatMap(({ flags, description, takesValue, choices }) => {
      const text = description.replaceAll(/[[\]:]/g, ' ');
      const value = choices.length > 0 ? `:value:(${choices.join(' ')})` : ':value:_files';
      return flags.map((flag) => quoted(`*${flag}[${text}]${takesValue ? value : ''}`));
    });
    return `    ${name}) _arguments ${[...specs, ...(below.length > 0 ? [quoted(`1:command:(${below.join(' ')})`)] : []), quoted('*:file:_files')].join(' \\\n      ')} ;;`;
  });
  return `#compdef ${program}
# zsh completion of ${program}
_${identifier}() {
  local -a commands=(
${names.join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
${cases.join('\n')}
  esac
}
if [ "$funcstack[1]" = _${identifier} ]; then _${identifier} "$@"; else compdef _${identifier} ${program}; fi
`;
}

function fish({ name: program, commands }: CompletedProgram): string {
  const names = commands.map(
    ({ name, description }) =>
      `complete -c ${program} -n __fish_use_subcommand -f -a ${name} -d ${quoted(description)}`,
  );
  const options = commands.flatMap(({ name, options: all }) =>
    all.map(({ flags, description, takesValue, choices }) => {
      const written = flags.map((flag) => (flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`));
      const value = choices.length > 0 ? ` -x -a ${quoted(choices.join(' '))}` : takesValue ? ' -r' : '';
      return `complete -c ${program} -n ${quoted(`__fish_seen_subcommand_from ${name}`)} ${written.join(' ')}${value} -d ${quoted(description)}`;
    }),
  );
  const words = commands.flatMap(({ name, commands: below }) =>
    below.map((each) => `complete -c ${program} -n ${quoted(`__fish_seen_subcommand_from ${name}`)} -a ${each}`),
  );
  return `# fish completion of ${program}\n${[...names, ...words, ...options].join('\n')}\n`;
}
