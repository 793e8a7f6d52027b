/** How long a response is fresh, how old it is, and how it may be used once it is stale (RFC 9111, section 4.2). */

import { type HeaderList, headerOf } from '../../kit.ts';
import { type Directives, dateOf, secondsOf, wholeSeconds } from './cache-control.ts';
import type { CacheRules } from './cache-rules.ts';

/** All in seconds. */
export interface Freshness {
  /** For which it is fresh, counted from when the origin made it. */
  readonly lifetime: number;
  /** Age at its arrival. */
  readonly initialAge: number;
  /** After `lifetime`, for which others may have it while one validates it. */
  readonly whileRevalidating: number;
  /** After `lifetime`, for which it may stand in for an error. */
  readonly ifError: number;
}

export interface Arrival {
  /** When the request was sent, and when its response arrived; milliseconds since the epoch. */
  readonly sentAt: number;
  readonly receivedAt: number;
}

/** Returns null if nothing makes the response fresh for any time: it is not stored. */
export function freshnessOf(
  status: number,
  headers: HeaderList,
  directives: Directives,
  arrival: Arrival,
  rules: CacheRules,
): Freshness | null {
  const said = explicitLifetime(headers, directives, arrival.receivedAt);
  const lifetime = said ?? (status < 400 ? rules.defaultTtl : rules.negativeTtl);
  if (said === null && lifetime === 0) return null;
  const initialAge = initialAgeOf(headers, arrival);
  const strict = mustRevalidate(directives);
  return {
    lifetime: directives.has('no-cache') ? 0 : Math.min(lifetime, initialAge + rules.maxTtl),
    initialAge,
    whileRevalidating: strict ? 0 : (secondsOf(directives, 'stale-while-revalidate') ?? rules.staleWhileRevalidate),
    ifError: strict ? 0 : (secondsOf(directives, 'stale-if-error') ?? rules.staleIfError),
  };
}

/** It is never used stale (RFC 9111, sections 4.2.4, 5.2.2.2, 5.2.2.8 and 5.2.2.10). */
export function mustRevalidate(directives: Directives): boolean {
  return ['no-cache', 'must-revalidate', 'proxy-revalidate', 's-maxage'].some((name) => directives.has(name));
}

/** Returns null if the response has no explicit lifetime (RFC 9111, section 4.2.1); no heuristics. */
function explicitLifetime(headers: HeaderList, directives: Directives, receivedAt: number): number | null {
  const said = secondsOf(directives, 's-maxage') ?? secondsOf(directives, 'max-age');
  if (said !== null) return said;
  if (headerOf(headers, 'expires') === undefined) return directives.has('no-cache') ? 0 : null;
  const expires = dateOf(headers, 'expires');
  const date = dateOf(headers, 'date') ?? receivedAt;
  return expires === null ? 0 : Math.max(0, (expires - date) / 1000);
}

/** RFC 9111, section 4.2.3. */
function initialAgeOf(headers: HeaderList, { sentAt, receivedAt }: Arrival): number {
  const date = dateOf(headers, 'date') ?? receivedAt;
  const apparent = Math.max(0, (receivedAt - date) / 1000);
  const [first = ''] = (headerOf(headers, 'age') ?? '').split(',');
  const said = wholeSeconds(first.trim()) ?? 0;
  // Dates have whole seconds: an apparent age of less than one counts as 0.
  return Math.max(apparent < 1 ? 0 : apparent, said + Math.max(0, receivedAt - sentAt) / 1000);
}
