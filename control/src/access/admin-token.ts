/** The admin token (docs/reference/control-plane.md#admin-token). */
import { createHash, timingSafeEqual } from 'node:crypto';

/** Compares digests, in a time that does not reveal how much of the token was right. */
export function adminTokenCheck(token: string): (given: string) => boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  const expected = digest(token);
  return (given) => timingSafeEqual(digest(given), expected);
}
