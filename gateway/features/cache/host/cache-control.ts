/** `Cache-Control` and the other fields that caches use, as RFC 9111 (section 5) reads them. */
import { type HeaderList, headerOf, joinedHeader, parseHttpDate } from '../../kit.ts';

/** Directives by lower-case name; the first of several with one name holds. An argument is text, without its quotes. */
export type Directives = ReadonlyMap<string, string>;

const NONE: Directives = new Map();
/** A name, and an argument as a token or a quoted string. Every alternative begins with another character. */
const DIRECTIVE = /([!#$%&'*+\-.^_`|~0-9A-Za-z]+)(?:=(?:"((?:[^"\\]|\\.)*)"|([^\s,;"]*)))?/g;
/** Greater ones are this (RFC 9111, section 1.2.2). */
const MOST_SECONDS = 2 ** 31;

/** Reads `Cache-Control`, all its lines together. */
export function directivesOf(headers: HeaderList): Directives {
  const value = joinedHeader(headers, 'cache-control');
  if (value === undefined) return NONE;
  const found = new Map<string, string>();
  for (const [, name = '', quoted, plain] of value.matchAll(DIRECTIVE)) {
    const key = name.toLowerCase();
    if (!found.has(key)) found.set(key, quoted?.replace(/\\(.)/g, '$1') ?? plain ?? '');
  }
  return found;
}

/** Returns the seconds of a directive; null if it is absent, 0 if it is malformed, so that nothing counts as fresh. */
export function secondsOf(directives: Directives, name: string): number | null {
  const value = directives.get(name);
  if (value === undefined) return null;
  return wholeSeconds(value) ?? 0;
}

/** Returns null if the text is not a `delta-seconds`. */
export function wholeSeconds(text: string): number | null {
  return /^\d+$/.test(text) ? Math.min(Number(text), MOST_SECONDS) : null;
}

/** Returns the milliseconds since the epoch of a field that holds an HTTP-date; null if it is absent or malformed. */
export function dateOf(headers: HeaderList, name: string): number | null {
  const text = headerOf(headers, name);
  return text === undefined ? null : parseHttpDate(text);
}

/** The members of a field that is a list of names, in lower case, each once. */
export function namesOf(headers: HeaderList, field: string): string[] {
  const value = joinedHeader(headers, field);
  if (value === undefined) return [];
  return [...new Set(value.split(',').map((name) => name.trim().toLowerCase()))].filter((name) => name !== '');
}
