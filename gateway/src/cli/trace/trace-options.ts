/** The options of a traced request, as curl names them: `gw trace` and `kubectl gw trace` share them. */
import { type Command, InvalidArgumentError, type Option } from 'commander';
import type { TraceRequest } from '../../trace/request.ts';
import { option } from '../command-line/variables.ts';

export interface TraceFlags {
  readonly request?: string;
  readonly header: readonly (readonly [string, string])[];
  readonly data?: string;
  readonly timeout: number;
}

export function addTraceOptions(command: Command): Command {
  return command
    .addOption(option('-X, --request <method>', 'method; default GET, with --data POST'))
    .addOption(headerOption())
    .addOption(option('-d, --data <text>', 'request body'))
    .addOption(timeoutOption('timeout of the request'));
}

export function headerOption(): Option {
  return option('-H, --header <name: value>', 'request header (repeatable)').argParser(header).default([], 'none');
}

export function timeoutOption(description: string): Option {
  return option('--timeout <seconds>', description).argParser(timeout).default(30);
}

export function traceRequestOf(target: string, { request, header, data, timeout }: TraceFlags): TraceRequest {
  return {
    method: request ?? (data === undefined ? 'GET' : 'POST'),
    target,
    headers: header.map(([name, value]): [string, string] => [name, value]),
    ...(data === undefined ? {} : { body: data }),
    timeout_ms: timeout * 1000,
  };
}

function header(
  text: string,
  previous: readonly (readonly [string, string])[],
): readonly (readonly [string, string])[] {
  const colon = text.indexOf(':');
  if (colon < 1) throw new InvalidArgumentError('Give a name and a value, such as "accept: application/json".');
  return [...previous, [text.slice(0, colon).trim(), text.slice(colon + 1).trim()]];
}

function timeout(text: string): number {
  const seconds = Number(text);
  if (!(seconds > 0 && seconds <= 120)) throw new InvalidArgumentError('Give seconds, up to 120.');
  return seconds;
}
