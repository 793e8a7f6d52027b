/** base64url as tokens use it (RFC 4648, section 5; RFC 7515, section 2): without padding. */

/** Last characters whose spare bits are zero, by what is left of the length after whole groups of four. */
const LAST: readonly RegExp[] = [/^$|[A-Za-z0-9_-]$/, /$^/, /[AQgw]$/, /[AEIMQUYcgkosw048]$/];

/**
 * Whether these characters of base64url are the one way in which their bytes are written (RFC 4648, section 3.5): where
 * spare bits may be anything, a token has several texts, and what is kept or revoked by its text is not met by another.
 */
export function isCanonical(part: string): boolean {
  return LAST[part.length % 4]?.test(part) ?? false;
}
