/** The `WWW-Authenticate` header (RFC 9110, section 11.6.1), as far as registries use it. */

export interface Challenge {
  /** Scheme, in lower case. */
  readonly scheme: string;
  /** Parameters by names in lower case. */
  readonly parameters: ReadonlyMap<string, string>;
}

const MAX_HEADER = 16 << 10;

const TOKEN = /[!#$%&'*+.^_`|~0-9A-Za-z-]+/y;
const SPACES = /[ \t]*/y;
const BETWEEN = /[ \t,]*/y;
const EQUALS = /[ \t]*=[ \t]*/y;
const QUOTED = /"((?:[^"\\]|\\.)*)"/sy;
/** Also accepts values that should be quoted, such as a URL. */
const UNQUOTED = /[^\s,"]+/y;
const TOKEN68 = /[A-Za-z0-9._~+/-]+=*(?=[ \t]*(?:,|$))/y;

/** Returns the challenges in their order; an unreadable one ends the list. */
export function parseChallenges(header: string): readonly Challenge[] {
  const text = header.slice(0, MAX_HEADER);
  const challenges: Challenge[] = [];
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found) at = pattern.lastIndex;
    return found;
  };
  for (;;) {
    take(BETWEEN);
    const scheme = take(TOKEN)?.[0];
    if (scheme === undefined) return challenges;
    const parameters = new Map<string, string>();
    challenges.push({ scheme: scheme.toLowerCase(), parameters });
    take(SPACES);
    take(TOKEN68);
    for (;;) {
      const before = at;
      take(BETWEEN);
      const name = take(TOKEN)?.[0];
      if (name === undefined || !take(EQUALS)) {
        // Without an equals sign, this is the scheme of the next challenge.
        at = before;
        break;
      }
      const value = take(QUOTED)?.[1]?.replace(/\\(.)/gs, '$1') ?? take(UNQUOTED)?.[0];
      if (value === undefined) return challenges;
      if (!parameters.has(name.toLowerCase())) parameters.set(name.toLowerCase(), value);
    }
  }
}
