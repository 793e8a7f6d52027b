/** Option values that several commands read; each throws a usage error with one clear line. */
import { availableParallelism } from 'node:os';
import { InvalidArgumentError, Option } from 'commander';
import type { ListenAddress } from '../serve-options.ts';
import { LOG_FORMATS, LOG_LEVELS } from '../telemetry/log.ts';

/** `127.0.0.1:8080`, `[::1]:8080`, `:8080` (all addresses). */
export function listenAddress(text: string): ListenAddress {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (!match || port > 65535) throw new InvalidArgumentError('Give an address and port, such as 127.0.0.1:8080.');
  return { host: match[1] ?? (match[2] || '0.0.0.0'), port };
}

/** An address, or null for `off`. */
export function adminAddress(text: string): ListenAddress | null {
  return text === 'off' ? null : listenAddress(text);
}

export function wholeNumber(least: number, most: number = Number.MAX_SAFE_INTEGER) {
  return (text: string): number => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < least || value > most) {
      throw new InvalidArgumentError(`Give a whole number from ${least}${most < 2 ** 53 - 1 ? ` to ${most}` : ' on'}.`);
    }
    return value;
  };
}

/** A count of processes, or `auto`: as many as there are CPUs for this process, by its cgroup's limit as well. */
export function workers(text: string): number {
  return text === 'auto' ? availableParallelism() : wholeNumber(1, 256)(text);
}

export function seconds(text: string): number {
  const value = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text) || value > 86_400) throw new InvalidArgumentError('Give seconds, such as 30 or 0.5.');
  return value;
}

/** What keys in a store begin with: no character that such a store gives a meaning to. */
export function statePrefix(text: string): string {
  if (/^[A-Za-z0-9_.:-]{1,320}$/.test(text)) return text;
  throw new InvalidArgumentError('Give a name of letters, digits and _ . : -, such as shop-production.');
}

/** From 0.0 to 1.0. */
export function share(text: string): number {
  const value = Number(text);
  if (!/^\d*\.?\d+$/.test(text) || value > 1) throw new InvalidArgumentError('Give a number from 0.0 to 1.0.');
  return value;
}

/** `--x`, `--x=true`, `--x=false`; in variables also 1 and 0. */
export function yesOrNo(text: string): boolean {
  if (text === 'true' || text === '1') return true;
  if (text === 'false' || text === '0') return false;
  throw new InvalidArgumentError('Give true or false.');
}

/** Repeatable, and comma-separated. */
export function list(text: string, previous: readonly string[] | undefined): string[] {
  const added = text.split(',').map((each) => each.trim());
  return [...(previous ?? []), ...added.filter((each) => each !== '')];
}

export const logLevelOption = () =>
  new Option('--log-level <level>', 'least level that is logged')
    .choices(LOG_LEVELS)
    .default('info')
    .env('GW_LOG_LEVEL');

export const logFormatOption = (standard: (typeof LOG_FORMATS)[number]) =>
  new Option('--log-format <format>', 'form of log lines').choices(LOG_FORMATS).default(standard).env('GW_LOG_FORMAT');
