/** Decides whether a stored response may be used without asking (RFC 9111, sections 4.2 and 5.2.1). */

import { type HeaderList, headerOf } from '../../kit.ts';
import { type Directives, directivesOf, secondsOf } from './cache-control.ts';
import type { CacheRules } from './cache-rules.ts';
import { mustRevalidate } from './freshness.ts';
import type { StoredResponse } from './stored-response.ts';

/** Seconds. */
export function ageOf({ initialAge, receivedAt }: StoredResponse, now: number): number {
  return initialAge + Math.max(0, now - receivedAt) / 1000;
}

/** Respects the request's directives, if the rules let requests decide. */
export function isFresh(
  stored: StoredResponse,
  age: number,
  request: HeaderList,
  directives: Directives,
  { clientControl }: Pick<CacheRules, 'clientControl'>,
): boolean {
  const left = stored.lifetime - age;
  if (!clientControl) return left > 0;
  if (directives.has('no-cache')) return false;
  if (directives.size === 0 && headerOf(request, 'pragma')?.toLowerCase().includes('no-cache')) return false;
  const maxAge = secondsOf(directives, 'max-age');
  if (maxAge !== null && age > maxAge) return false;
  if (left > 0) return left >= (secondsOf(directives, 'min-fresh') ?? 0);
  const maxStale = directives.get('max-stale');
  if (maxStale === undefined || mustRevalidate(directivesOf(stored.headers))) return false;
  return maxStale === '' || -left <= (secondsOf(directives, 'max-stale') ?? 0);
}
