/** Differences between two artifacts, for callers of the API. */

import { printable } from '../text/printable.ts';

export interface Change {
  /** `POST /books`, `plugin rate-limit`, `mcp`, `tool listBooks`. */
  readonly subject: string;
  /**
   * Whether a correct client may fail now: an accepted request may be refused, lose something on its way, or get an
   * answer that was not described.
   */
  readonly breaking: boolean;
  readonly message: string;
}

export function breaking(subject: string, message: string): Change {
  return { subject, breaking: true, message };
}

export function harmless(subject: string, message: string): Change {
  return { subject, breaking: false, message };
}

/** In one order, whatever the order of the inputs. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Returns the entries of one list that the other lacks. */
export function without<T>(list: readonly T[], other: readonly T[]): readonly T[] {
  return list.filter((each) => !other.includes(each));
}

/** Changes by their subject; breaking ones are marked with `!`. */
export function renderChanges(changes: readonly Change[]): string {
  const bySubject = Map.groupBy(changes, ({ subject }) => subject);
  const blocks = [...bySubject].map(([subject, some]) => {
    const lines = some.map(({ breaking, message }) => `  ${breaking ? '!' : ' '} ${printable(message)}\n`);
    return `${printable(subject)}\n${lines.join('')}`;
  });
  if (changes.length === 0) return 'no changes\n';
  const breaks = changes.filter(({ breaking }) => breaking).length;
  const others = changes.length - breaks;
  return `${blocks.join('')}${breaks} breaking change${breaks === 1 ? '' : 's'}, ${others} other${others === 1 ? '' : 's'}\n`;
}
