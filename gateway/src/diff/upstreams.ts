/** Changes of the policies of named upstreams. */
import type { RoutesFile } from '../artifact/format.ts';
import { type Change, harmless } from './change.ts';

export function diffUpstreams({ upstreams: before = {} }: RoutesFile, { upstreams: after = {} }: RoutesFile): Change[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].flatMap((name): readonly Change[] => {
    const subject = `upstream ${name}`;
    const [from, to] = [before[name], after[name]];
    if (!from || !to)
      return [to ? harmless(subject, 'added: give its addresses with --upstreams') : harmless(subject, 'removed')];
    return (['balance', 'ejection'] as const).flatMap((field) => {
      const [old, now] = [from[field], to[field]].map((value) => JSON.stringify(value));
      return old === now ? [] : [harmless(subject, `${field}: ${old} → ${now}`)];
    });
  });
}
