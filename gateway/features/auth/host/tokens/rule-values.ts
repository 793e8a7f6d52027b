/** Values of the rules that plugins give to the host, such as those of `host_token_open` (sdk/ABI.md). */
import { isObject, type Obj, valueAt } from '../../../kit.ts';

/** The rules are not usable; the message says which. */
export class TokenRulesError extends Error {}

/**
 * `text`: JSON, in which `{"$config": "/pointer"}` stands for a value of the plugin's config, so that secrets need not
 * pass through its memory; values that are absent there, or empty, are left out. Throws TokenRulesError.
 */
export function readRules(text: string, config: unknown): unknown {
  return withConfig(parsed(text), config);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new TokenRulesError('the rules are not JSON');
  }
}

function withConfig(value: unknown, config: unknown): unknown {
  if (Array.isArray(value)) return value;
  if (!isObject(value)) return value;
  if (typeof value['$config'] === 'string') {
    const found = valueAt(config, value['$config']);
    return found === '' ? undefined : found;
  }
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, each]): [string, unknown][] => {
      const resolved = withConfig(each, config);
      return resolved === undefined ? [] : [[name, resolved]];
    }),
  );
}

export function httpUrl(given: string): string {
  const url = URL.parse(given);
  if (
    url === null ||
    !/^https?:$/.test(url.protocol) ||
    url.hash !== '' ||
    url.username !== '' ||
    url.password !== ''
  ) {
    throw new TokenRulesError('a URL must be http(s), without credentials and fragment');
  }
  return given;
}

export function text(given: Obj, name: string): string | undefined {
  const value = given[name];
  if (value === undefined || typeof value === 'string') return value;
  throw new TokenRulesError(`"${name}" must be a string`);
}

/** Returns milliseconds for a value in seconds, at most a day. */
export function milliseconds(given: Obj, name: string, otherwise: number): number {
  const value = given[name] ?? otherwise;
  if (typeof value !== 'number' || value < 0) throw new TokenRulesError(`"${name}" must be seconds, from 0`);
  return Math.min(value, 86_400) * 1000;
}
