/** Whether a command colours what it writes, the same in every program (https://no-color.org). */
import { isatty } from 'node:tty';

/** On a terminal, unless NO_COLOR is set; FORCE_COLOR decides before both, and `0` means no. */
export function wantsColour(env: Readonly<Record<string, string | undefined>>, isTerminal: boolean): boolean {
  const forced = env['FORCE_COLOR'];
  return forced ? forced !== '0' : isTerminal && !env['NO_COLOR'];
}

/** The same of a stream: 1 for standard output, 2 for standard error. */
export function isColoured(env: Readonly<Record<string, string | undefined>>, fd: 1 | 2): boolean {
  return wantsColour(env, isatty(fd));
}
