/** base64url as tokens use it (RFC 4648, section 5; RFC 7515, section 2): without padding. */

/** Last characters whose spare bits are zero, by the rest of the length after whole groups of four. */
const LAST: readonly RegExp[] = [/^$|[A-Za-z0-9_-]$/, /$^/, /[AQgw]$/, /[AEIMQUYcgkosw048]$/];

/**
 * Reports whether these characters of base64url are the one encoding of their bytes (RFC 4648, section 3.5): if spare
 * bits could be anything, a token would have several texts, and caching or revoking it by one text would miss the
 * others.
 */
export function isCanonical(part: string): boolean {
  return LAST[part.length % 4]?.test(part) ?? false;
}
