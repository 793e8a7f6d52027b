/** How deep JSON goes: readers recurse on it, and so do upstreams that coerce variables of types that have themselves. */

/** Objects and arrays within each other, as with brackets of documents. */
export const MOST_JSON_NESTING = 256;

/** Level by level, and no further than there may be: takes no stack, and each value once. */
export function nestsTooDeeply(value: unknown): boolean {
  let level = innerOf([value]);
  for (let depth = 0; level.length > 0; depth++) {
    if (depth === MOST_JSON_NESTING) return true;
    level = innerOf(level.flatMap((each) => Object.values(each)));
  }
  return false;
}

function innerOf(values: readonly unknown[]): object[] {
  return values.filter((each): each is object => typeof each === 'object' && each !== null);
}
