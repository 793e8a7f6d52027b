/**
 * Paths of objects: a key is decoded once and encoded again as SigV4 requires for S3, so that the store reads exactly
 * this key, and verifies its signature (docs/decisions.md#object-keys).
 */

/**
 * Common syntax of bucket names, at all stores and in all their years; without characters that a URL could read as more
 * than a name.
 */
const BUCKET = /^[A-Za-z0-9][A-Za-z0-9._-]{1,253}[A-Za-z0-9]$/;

/** Returns the bucket's name from a path parameter as it was sent; null if it is malformed. */
export function bucketOf(sent: string): string | null {
  const name = percentDecoded(sent);
  return name !== null && BUCKET.test(name) ? name : null;
}

/**
 * Returns the key, as a path without its first slash, from a path parameter as it was sent. Returns null if it is
 * empty, not UTF-8, or has a segment `.` or `..`: proxies and stores resolve those, and would reach another object, or
 * another bucket.
 */
export function keyPathOf(sent: string): string | null {
  const key = percentDecoded(sent);
  return key === null ? null : keyPath(key);
}

/** The same of a key that is not encoded. */
export function keyPath(key: string): string | null {
  if (key === '' || key.split('/').some((segment) => segment === '.' || segment === '..')) return null;
  return escaped(key).replaceAll('%2F', '/');
}

/** Encodes a text as SigV4 does (`UriEncode`): all but unreserved characters, in upper case. */
export function escaped(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** Returns null if an encoding is malformed, or the decoded text is not UTF-8. */
export function percentDecoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
