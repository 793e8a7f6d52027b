/**
 * Options and the variables that they can come from: flag, then variable, then default (docs/decisions.md#precedence).
 */
import { InvalidArgumentError, Option } from 'commander';
import { variableName } from '../../options/option-table.ts';
import { list, yesOrNo } from './options.ts';
import { DATA_FORMATS } from './output-format.ts';
import type { Program } from './program.ts';

/** Variables that a command reads for an option by itself, because commander would not read them as it wants. */
const ownVariables = new WeakMap<Option, string>();

/**
 * Makes an option with the variable of its name: `--max-body-size` from GW_MAX_BODY_SIZE; another if that means
 * something else.
 */
export function option(flags: string, description: string, variable = variableFor(flags)): Option {
  return new Option(flags, description).env(variable);
}

/** Off by default; `--dev`, `--dev=false`, and in its variable true, false, 1 or 0. */
export function flag(name: string, description: string): Option {
  return option(`${name} [boolean]`, description).preset('true').argParser(yesOrNo).default(false);
}

/** Like `flag`, and on by default: `--no-cache` turns `cache` off. */
export function noFlag(name: string, description: string): Option {
  const not = (text: string) => !yesOrNo(text);
  return option(`${name} [boolean]`, description).preset('true').argParser(not);
}

/** Like `flag`, without a value: for commands with arguments, since a flag with an optional value would swallow one. */
export function presence(flags: string, description: string, { env }: Program): Option {
  const variable = variableFor(flags);
  const given = new Option(flags, `${description} (env: ${variable})`);
  return readBy(given.default(['1', 'true'].includes(env[variable] ?? ''), 'false'), variable);
}

/** An option that its command takes from a variable by itself. */
export function readBy(given: Option, variable: string): Option {
  ownVariables.set(given, variable);
  return given;
}

/** Repeatable, and comma-separated. `standard`: the default, in words. */
export function listOption(flags: string, description: string, standard: string): Option {
  return option(flags, `${description} (repeatable)`).argParser(list).default([], standard);
}

export function formatOption<const F extends string>(formats: readonly [F, ...F[]]): Option {
  const choices: readonly string[] = [...new Set([...formats, ...DATA_FORMATS])];
  return option('--format <format>', 'output format').choices(choices).argParser(oneOf(choices)).default(formats[0]);
}

/** As `formatOption`, of a program whose variables are not those of `gw`. */
export function dataFormat(): Option {
  const choices = ['text', ...DATA_FORMATS];
  return new Option('--format <format>', 'output format').choices(choices).argParser(oneOf(choices)).default('text');
}

/** `text` and `table` mean the same: a command with columns prints a table. */
function oneOf(choices: readonly string[]): (value: string) => string {
  return (value) => {
    const meant =
      value === 'table' || value === 'text' ? choices.find((each) => each === 'table' || each === 'text') : value;
    if (meant !== undefined && choices.includes(meant)) return meant;
    throw new InvalidArgumentError(`Allowed choices are ${choices.join(', ')}.`);
  };
}

/** An older spelling of an option: it goes on working, and is in no help. */
export function oldSpelling(flags: string, instead: string): Option {
  return new Option(flags, `older spelling of ${instead}`).hideHelp();
}

/** Returns the variable that sets the option; undefined if it has no variable. */
export function variableOf(given: Option): string | undefined {
  return given.envVar ?? ownVariables.get(given);
}

function variableFor(flags: string): string {
  return variableName(/--[a-z0-9-]+/.exec(flags)?.[0] ?? '--');
}
