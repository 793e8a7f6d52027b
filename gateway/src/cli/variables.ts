/**
 * Options and the variables that they can come from: flag, then variable, then default (docs/decisions.md#precedence).
 */
import { Option } from 'commander';
import { variableName } from '../options/option-table.ts';
import { list, yesOrNo } from './options.ts';
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
  return option('--format <format>', 'output format').choices(formats).default(formats[0]);
}

/** Returns the variable that sets the option; undefined if it has no variable. */
export function variableOf(given: Option): string | undefined {
  return given.envVar ?? ownVariables.get(given);
}

function variableFor(flags: string): string {
  return variableName(/--[a-z0-9-]+/.exec(flags)?.[0] ?? '--');
}
