/** The order of semantic versions (semver.org, section 11). */

interface Parts {
  readonly numbers: readonly string[];
  /** Empty for a release. */
  readonly prerelease: readonly string[];
}

/** Returns a negative number if `a` is older. Build metadata does not affect age; it only makes the order stable. */
export function compareVersions(a: string, b: string): number {
  const [first, second] = [partsOf(a), partsOf(b)];
  return (
    compareLists(first.numbers, second.numbers) ||
    Number(second.prerelease.length > 0) - Number(first.prerelease.length > 0) ||
    compareLists(first.prerelease, second.prerelease) ||
    compareTexts(a, b)
  );
}

/** Returns the newest release; the newest version if there is no release. Throws RangeError for an empty list. */
export function newestVersion(versions: readonly string[]): string {
  const releases = versions.filter((version) => partsOf(version).prerelease.length === 0);
  const newest = [...(releases.length > 0 ? releases : versions)].sort(compareVersions).at(-1);
  if (newest === undefined) throw new RangeError('there is no version to choose from');
  return newest;
}

function partsOf(version: string): Parts {
  const [precedence = ''] = version.split('+');
  const dash = precedence.indexOf('-');
  if (dash === -1) return { numbers: precedence.split('.'), prerelease: [] };
  return { numbers: precedence.slice(0, dash).split('.'), prerelease: precedence.slice(dash + 1).split('.') };
}

function compareLists(a: readonly string[], b: readonly string[]): number {
  for (const [i, part] of a.entries()) {
    const other = b[i];
    if (other === undefined) return 1;
    const order = compareIdentifiers(part, other);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

/** Numbers by value, however long they are, and below words. */
function compareIdentifiers(a: string, b: string): number {
  const [isNumber, isOtherNumber] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (isNumber !== isOtherNumber) return isNumber ? -1 : 1;
  if (!isNumber) return compareTexts(a, b);
  const [digits, others] = [a.replace(/^0+(?=.)/, ''), b.replace(/^0+(?=.)/, '')];
  return digits.length - others.length || compareTexts(digits, others);
}

function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
