/** Globs over names of models: `*`, `?`, `[a-z]`, `[!a-z]`; case-sensitive, and matching the whole name. */

type Token = { readonly many: true } | { readonly many: false; matches(character: string): boolean };

export class Glob {
  readonly #tokens: readonly Token[];

  /** The schema of the config has refused malformed patterns. */
  constructor(pattern: string) {
    this.#tokens = partsOf(pattern).map(tokenOf);
  }

  /** In steps that the lengths of pattern and name bound: a name comes from a client. */
  matches(name: string): boolean {
    const characters = [...name];
    let [at, token] = [0, 0];
    /** Position of the last `*`, and the end of the text that it has matched. */
    let [star, taken] = [-1, 0];
    while (at < characters.length) {
      const next = this.#tokens[token];
      if (next?.many) {
        [star, taken] = [token++, at];
      } else if (next?.matches(characters[at] ?? '')) {
        at++;
        token++;
      } else if (star >= 0) {
        at = ++taken;
        token = star + 1;
      } else return false;
    }
    return this.#tokens.slice(token).every(({ many }) => many);
  }
}

function partsOf(pattern: string): readonly string[] {
  return pattern.match(/\[!?[^\]]+\]|[\s\S]/gu) ?? [];
}

const isWildcard = (part: string) => part === '*' || part === '?' || (part.length > 2 && part.startsWith('['));

/**
 * Orders globs so that the decisive one comes first if several match (docs/decisions.md#most-specific-member): one
 * without wildcards, then the one with more literal characters, then with the longer literal prefix, then by code
 * points.
 */
export function bySpecificity(a: string, b: string): number {
  const [one, other] = [specificityOf(a), specificityOf(b)];
  if (one.isExact !== other.isExact) return one.isExact ? -1 : 1;
  return other.literals - one.literals || other.prefix - one.prefix || byCodePoints(a, b);
}

function specificityOf(pattern: string) {
  const parts = partsOf(pattern);
  const wildcards = parts.filter(isWildcard).length;
  const first = parts.findIndex(isWildcard);
  return { isExact: wildcards === 0, literals: parts.length - wildcards, prefix: first < 0 ? parts.length : first };
}

function byCodePoints(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function tokenOf(part: string): Token {
  if (part === '*') return { many: true };
  if (part === '?') return { many: false, matches: () => true };
  if (part.length > 2 && part.startsWith('[')) return classOf(part);
  return { many: false, matches: (character) => character === part };
}

function classOf(part: string): Token {
  const negated = part.startsWith('[!');
  const members = [...part.slice(negated ? 2 : 1, -1)];
  const ranges: (readonly [from: string, to: string])[] = [];
  for (let i = 0; i < members.length; i++) {
    const from = members[i] ?? '';
    const isRange = members[i + 1] === '-' && i + 2 < members.length;
    ranges.push([from, isRange ? (members[i + 2] ?? '') : from]);
    if (isRange) i += 2;
  }
  return { many: false, matches: (each) => ranges.some(([from, to]) => from <= each && each <= to) !== negated };
}
