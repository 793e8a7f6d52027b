/** Conditions of requests against a stored response (RFC 9110, section 13; RFC 9111, section 4.3.2). */

import { type HeaderList, headerOf, joinedHeader } from '../../kit.ts';
import { dateOf } from './cache-control.ts';

/** Headers of a stored response that a 304 carries (RFC 9110, section 15.4.5). */
const OF_NOT_MODIFIED = new Set([
  ...['cache-control', 'content-location', 'date', 'etag', 'expires', 'last-modified', 'vary', 'set-cookie'],
]);

/** Reports whether the client has the stored response already: it gets 304. */
export function clientHas(request: HeaderList, stored: HeaderList): boolean {
  const wanted = joinedHeader(request, 'if-none-match');
  if (wanted !== undefined) {
    if (wanted.trim() === '*') return true;
    const tag = headerOf(stored, 'etag');
    return tag !== undefined && tagsOf(wanted).includes(opaque(tag));
  }
  const since = dateOf(request, 'if-modified-since');
  const modified = dateOf(stored, 'last-modified');
  return since !== null && modified !== null && modified <= since;
}

/**
 * Returns the entity tags in a list, without their weakness marks: they are compared weakly here (RFC 9110, section
 * 8.8.3.2).
 */
function tagsOf(list: string): string[] {
  return [...list.matchAll(/(?:W\/)?("[^"]*")/g)].map(([, tag = '']) => tag);
}

function opaque(tag: string): string {
  return tag.replace(/^W\//, '');
}

/** Returns headers that ask the upstream whether the stored response is still valid; null if it has no validator. */
export function validators(stored: HeaderList): HeaderList | null {
  const [tag, modified] = [headerOf(stored, 'etag'), headerOf(stored, 'last-modified')];
  if (tag === undefined && modified === undefined) return null;
  return [
    ...(tag === undefined ? [] : ['if-none-match', tag]),
    ...(modified === undefined ? [] : ['if-modified-since', modified]),
  ];
}

export function notModified(headers: HeaderList): HeaderList {
  const kept: HeaderList = [];
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] ?? '';
    if (OF_NOT_MODIFIED.has(name)) kept.push(name, headers[i + 1] ?? '');
  }
  return kept;
}

/** Headers of the stored response that stay even if a 304 repeats them (RFC 9111, section 3.2). */
const OF_THE_BODY = new Set(['content-encoding', 'content-length', 'content-range', 'content-type']);

/** The stored headers with those of a 304 in their place. */
export function refreshed(stored: HeaderList, fresh: HeaderList): HeaderList {
  const renewed = new Set<string>();
  const headers: HeaderList = [];
  for (let i = 0; i < fresh.length; i += 2) {
    const name = fresh[i] ?? '';
    if (OF_THE_BODY.has(name)) continue;
    renewed.add(name);
    headers.push(name, fresh[i + 1] ?? '');
  }
  const kept: HeaderList = [];
  for (let i = 0; i < stored.length; i += 2) {
    const name = stored[i] ?? '';
    if (!renewed.has(name)) kept.push(name, stored[i + 1] ?? '');
  }
  return [...kept, ...headers];
}
