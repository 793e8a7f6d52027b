/** Which responses a shared cache may store (RFC 9111, section 3), and which of their headers. */

import { type HeaderList, headerOf } from '../../kit.ts';
import { type Directives, namesOf } from './cache-control.ts';
import type { CacheRules } from './cache-rules.ts';

export interface Candidate {
  readonly status: number;
  readonly headers: HeaderList;
  readonly directives: Directives;
  /** Only the end of the connection marks the end of its body. */
  readonly endsByClosing: boolean;
  /** Its request had credentials, as the cache's own hook saw it. */
  readonly authenticated: boolean;
  /** A plugin behind the cache authenticated the request. */
  readonly authenticatedLater: boolean;
  /** Only requests of the same consumer get it. */
  readonly partitioned: boolean;
}

/** Most names in `Vary`: with more, hardly two requests are alike. */
const MOST_VARY = 16;
/** Any of them allows it although the request was authenticated (RFC 9111, section 3.5). */
const FOR_EVERYONE = ['public', 's-maxage', 'must-revalidate'];

/** Returns why a response may not be stored, as a word for `Cache-Status`; null if it may. */
export function unstorable(response: Candidate, rules: CacheRules): string | null {
  const { headers, directives } = response;
  if (!rules.statuses.has(response.status)) return 'status';
  if (directives.has('no-store')) return 'no-store';
  if (directives.has('private')) return 'private';
  // A plugin that runs later decides who may have it.
  if (response.authenticatedLater) return 'authenticated-later';
  if (response.authenticated && !response.partitioned && !FOR_EVERYONE.some((name) => directives.has(name))) {
    return 'authenticated';
  }
  if (headerOf(headers, 'set-cookie') !== undefined && !rules.storeSetCookie) return 'set-cookie';
  const names = namesOf(headers, 'vary');
  if (names.includes('*') || names.length > MOST_VARY) return 'vary';
  if (response.endsByClosing) return 'may-be-truncated';
  if (Number(headerOf(headers, 'content-length') ?? 0) > rules.maxBodyBytes) return 'too-large';
  return null;
}

/**
 * Reports whether the answer may be meant for one caller only: the request has credentials, or a plugin has identified
 * its caller.
 */
export function isAuthenticated(headers: HeaderList): boolean {
  return headerOf(headers, 'authorization') !== undefined || isIdentified(headers);
}

/** Reports whether a plugin has identified the caller: clients cannot (docs/reference/gateway.md#header-admission). */
export function isIdentified(headers: HeaderList): boolean {
  return headers.some((name, i) => i % 2 === 0 && name.startsWith('x-auth-'));
}

/**
 * Request headers by which responses of a URL differ: those of `Vary`, and those that upstreams forget there although
 * the response shows that it depends on them.
 */
export function variesBy(headers: HeaderList): readonly string[] {
  const names = new Set(namesOf(headers, 'vary'));
  if (headerOf(headers, 'content-encoding') !== undefined) names.add('accept-encoding');
  if ((headerOf(headers, 'access-control-allow-origin') ?? '*') !== '*') names.add('origin');
  return [...names].sort();
}

/** Said anew with each answer, or true of one only. */
const NOT_STORED = new Set([
  ...['age', 'cache-status', 'content-length', 'connection', 'keep-alive', 'proxy-connection', 'trailer'],
  ...['transfer-encoding', 'upgrade'],
]);

/** The headers to store; with a `Date`, which freshness is counted from. */
export function storedHeaders(headers: HeaderList, receivedAt: number): HeaderList {
  const kept: HeaderList = [];
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] ?? '';
    if (!NOT_STORED.has(name)) kept.push(name, headers[i + 1] ?? '');
  }
  if (headerOf(kept, 'date') === undefined) kept.push('date', new Date(receivedAt).toUTCString());
  return kept;
}
