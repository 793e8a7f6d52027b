/** Names similar to a misspelt one. */

/** At most this many are offered. */
const MOST_OFFERED = 3;
/** Characters of a name that are compared: lists of other servers may have any. */
const MOST_COMPARED = 64;

/**
 * Returns names that differ in at most a third of the letters, or contain the name, the nearest first; case is ignored.
 */
export function nearestNames(name: string, names: readonly string[]): readonly string[] {
  const wanted = name.slice(0, MOST_COMPARED).toLowerCase();
  const allowed = Math.max(1, Math.floor((wanted.length + 1) / 3));
  return names
    .map((each) => ({ each, edits: editsFrom(wanted, each.slice(0, MOST_COMPARED).toLowerCase()) }))
    .map(({ each, edits }) => ({ each, edits: each.toLowerCase().includes(wanted) ? Math.min(edits, allowed) : edits }))
    .filter(({ edits }) => edits <= allowed)
    .sort((a, b) => a.edits - b.edits)
    .slice(0, MOST_OFFERED)
    .map(({ each }) => each);
}

/** Letters to insert, delete or replace (Levenshtein), a row of the matrix at a time. */
function editsFrom(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, i) => i);
  for (const [i, letter] of [...from].entries()) {
    const next = [i + 1];
    for (let j = 0; j < to.length; j++) {
      const replaced = (row[j] as number) + (to[j] === letter ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] as number) + 1, (next[j] as number) + 1));
    }
    row = next;
  }
  return row[to.length] as number;
}
