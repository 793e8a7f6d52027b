/**
 * Invalidation by a successful unsafe request (RFC 9111, section 4.4): its own path, and those that its response names.
 */

import { type Exchange, headerOf, ownerOf } from '../../kit.ts';
import { epochKey } from './cache-key.ts';
import type { Maybe, ResponseStore } from './response-store.ts';

export function invalidate(exchange: Exchange, store: ResponseStore): Maybe<void> {
  const origin = `${exchange.scheme}://${headerOf(exchange.headers, 'host') ?? ''}`;
  const paths = new Set([exchange.path]);
  for (const name of ['location', 'content-location']) {
    const path = pathAt(origin, exchange.path, headerOf(exchange.response.headers, name));
    if (path !== null) paths.add(path);
  }
  const done = [...paths].map((path) =>
    store.invalidate(epochKey(exchange.operation?.api ?? '', path), ownerOf(exchange)),
  );
  return done.some((each) => each instanceof Promise) ? Promise.all(done).then(() => {}) : undefined;
}

/** Returns the path of a URL reference; null if it is malformed or of another origin, which may not invalidate. */
function pathAt(origin: string, base: string, reference: string | undefined): string | null {
  if (reference === undefined || !URL.canParse(reference, origin + base)) return null;
  const url = new URL(reference, origin + base);
  return url.origin === new URL(origin).origin ? url.pathname : null;
}
