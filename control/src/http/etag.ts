/** ETags of rows that count their changes, and the conditions of RFC 9110, section 13. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ControlError } from '../errors.ts';

export const etagOf = (version: number | string): string => `"${version}"`;

/** Returns the versions that an If-Match names; null without one, `*` for any. */
export function ifMatch(request: FastifyRequest): readonly string[] | '*' | null {
  return parse(request.headers['if-match'], false);
}

/** Versions that a change expects; the library's form of If-Match. */
export type Expected = readonly string[] | '*' | null;

/** Throws 412 if the version is not among the expected ones. */
export function mustMatch(expected: Expected, version: number | string, what: string): void {
  if (expected === null || expected === '*' || expected.includes(String(version))) return;
  throw new ControlError('precondition-failed', `${what} has changed since: read it again, and reapply the change`);
}

/** Sets the ETag; returns true if the client has that version, and should get 304. */
export function notModified(request: FastifyRequest, reply: FastifyReply, version: number | string): boolean {
  reply.header('etag', etagOf(version));
  const known = parse(request.headers['if-none-match'], true);
  return known === '*' || (known?.includes(String(version)) ?? false);
}

/** `weak`: whether tags that are only equivalent count. An invalid ETag matches nothing. */
function parse(header: string | undefined, weak: boolean): readonly string[] | '*' | null {
  if (header === undefined) return null;
  const text = header.trim();
  if (text === '*') return '*';
  return text.split(',').flatMap((each) => {
    const [, isWeak, tag] = /^(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"$/.exec(each.trim()) ?? [];
    return tag !== undefined && (isWeak === undefined || weak) ? [tag] : [];
  });
}
