/** Changes between two artifacts, for people. */
import { printable } from '../text/printable.ts';
import type { Change } from './change.ts';

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
