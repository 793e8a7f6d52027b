/** Ids of end users, for the provider's abuse detection. */
import { hash } from 'node:crypto';

/**
 * Returns the id, or its SHA-256 in hex if a protocol takes at most `most` characters, 64 at least: the same for each
 * request.
 */
export function shorten(id: string, most: number): string {
  return id.length <= most ? id : hash('sha256', id, 'hex');
}
