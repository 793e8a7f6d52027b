/** Option values that several commands read; each throws a usage error with one clear line. */
import { InvalidArgumentError } from 'commander';
import type { ListenAddress } from '../../transport/listen-address.ts';

const DAY = 86_400;

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

export function secondsFrom(least: number, most: number) {
  const range = least === 0 && most === DAY ? 'such as 30 or 0.5' : `from ${least} to ${most}`;
  return (text: string): number => {
    const value = Number(text);
    if (!/^\d+(\.\d+)?$/.test(text) || value < least || value > most) {
      throw new InvalidArgumentError(`Give seconds, ${range}.`);
    }
    return value;
  };
}

export const seconds = secondsFrom(0, DAY);

/** Parses a number from 0.0 to 1.0. */
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

/** `localhost:3000` is http, as people write it. */
export function upstreamUrl(text: string): string {
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  const { protocol = '', username = '', search = '', hash = '' } = URL.parse(url) ?? {};
  const isPlain = username === '' && search === '' && hash === '';
  if (['http:', 'https:'].includes(protocol) && isPlain) return url;
  throw new InvalidArgumentError('Give the URL of a server, such as http://localhost:3000.');
}
