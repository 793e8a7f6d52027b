/** How deep JSON may be nested that is written again: writing recurses, and its stack has an end. */

/** Levels; descriptions of tools have a dozen. */
export const MAX_DEPTH = 256;

/** Whether a value that was parsed is nested deeper. Looks at each value once, without recursion. */
export function isTooDeep(value: unknown): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) return true;
    const next: unknown[] = [];
    for (const each of level) {
      if (typeof each !== 'object' || each === null) continue;
      for (const inner of Object.values(each)) if (typeof inner === 'object' && inner !== null) next.push(inner);
    }
    level = next;
  }
  return false;
}
