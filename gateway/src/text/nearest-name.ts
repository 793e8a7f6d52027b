/** Finds the known names that a misspelt one most likely means, for hints. */

/** Longest name that is compared, in characters. */
const LONGEST = 64;
/** Known names that are compared with one; a limit, since documents are untrusted. */
const MOST_KNOWN = 2_000;
/** Names that `nearestNames` returns at most. */
const MOST_OFFERED = 3;

/** Returns null if no known name is near. Differences in case, `-` and `_` do not count. */
export function nearestName(name: string, known: Iterable<string>): string | null {
  if (name.length < 2 || name.length > LONGEST) return null;
  const given = plain(name);
  let nearest: string | null = null;
  let least = mostEdits(given) + 1;
  let compared = 0;
  for (const each of known) {
    if (each === name) continue;
    if (++compared > MOST_KNOWN) break;
    if (Math.abs(each.length - name.length) > 4) continue;
    const edits = distance(given, plain(each), least);
    if (edits < least) [nearest, least] = [each, edits];
  }
  return nearest;
}

/** Returns `Did you mean "url"?`, or null if no known name is near. */
export function didYouMean(name: string, known: Iterable<string>): string | null {
  const nearest = nearestName(name, known);
  return nearest === null ? null : `Did you mean "${nearest}"?`;
}

/**
 * Returns names that differ in at most a third of the letters, or contain the name, the nearest first; case is ignored.
 * Two neighbours exchanged are two edits here. Of longer names the first letters are compared: lists of other servers
 * may have any.
 */
export function nearestNames(name: string, names: readonly string[]): readonly string[] {
  const start = (each: string) => each.slice(0, LONGEST).toLowerCase();
  const wanted = start(name);
  const allowed = Math.max(1, Math.floor((wanted.length + 1) / 3));
  return names
    .map((each) => ({ each, edits: distance(wanted, start(each), allowed + 1, { exchanges: false }) }))
    .map(({ each, edits }) => ({ each, edits: each.toLowerCase().includes(wanted) ? Math.min(edits, allowed) : edits }))
    .filter(({ edits }) => edits <= allowed)
    .sort((a, b) => a.edits - b.edits)
    .slice(0, MOST_OFFERED)
    .map(({ each }) => each);
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[-_]/g, '');
}

function mostEdits({ length }: string): number {
  return length < 5 ? 1 : length < 12 ? 2 : 3;
}

/**
 * Counts the edits that turn one text into the other, up to `most`: a character added, removed or replaced, or two
 * neighbours exchanged.
 */
function distance(a: string, b: string, most: number, { exchanges } = { exchanges: true }): number {
  if (Math.abs(a.length - b.length) >= most) return most;
  let [before, last]: [number[], number[]] = [[], Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let edits = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (same ? 0 : 1));
      const isSwap = exchanges && i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (isSwap) edits = Math.min(edits, (before[j - 2] ?? 0) + 1);
      row.push(edits);
    }
    if (Math.min(...row) >= most) return most;
    [before, last] = [last, row];
  }
  return last[b.length] ?? most;
}
