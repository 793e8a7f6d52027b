/**
 * A client's preferences for a mocked answer: `Prefer: code=404, example=empty` (RFC 7240, with the names of mock
 * servers).
 */

export interface Preference {
  /** As sent; undefined if absent. */
  readonly code: string | undefined;
  readonly example: string | undefined;
}

const PREFERENCE = /(?:^|,)\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,;"]*))/g;

/** Reads preferences: the first of each name counts; malformed ones are ignored (RFC 7240, section 2). */
export function preferenceOf(header: string | undefined): Preference {
  const found = new Map<string, string>();
  for (const [, name = '', quoted, plain] of (header ?? '').matchAll(PREFERENCE)) {
    const key = name.toLowerCase();
    if (!found.has(key)) found.set(key, quoted?.replaceAll(/\\(.)/g, '$1') ?? plain ?? '');
  }
  return { code: found.get('code'), example: found.get('example') };
}
