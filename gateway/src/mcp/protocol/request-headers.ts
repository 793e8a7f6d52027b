/**
 * Headers of revision 2026-07-28 that repeat parts of the body, so that proxies can route by them: a difference is
 * refused, since a proxy may have decided by the header (docs/mcp.md#revisions).
 */
import { type HeaderList, headerOf } from '../../exchange.ts';
import { HEADER_MISMATCH, RpcError } from './json-rpc.ts';

const SENTINEL = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/;

/** Throws RpcError unless the header is there, and has the value. */
export function mustMatch(headers: HeaderList, name: string, value: string): void {
  const sent = headerOf(headers, name.toLowerCase());
  if (sent === undefined) throw mismatch(`${name} is missing`);
  if (decoded(sent) !== value) throw mismatch(`${name} does not match the body`);
}

/** Decodes base64, which text other than plain ASCII is written in; returns null if it is malformed. */
function decoded(text: string): string | null {
  const encoded = SENTINEL.exec(text)?.[1];
  if (encoded === undefined) return text;
  const bytes = Buffer.from(encoded, 'base64');
  return bytes.toString('base64') === encoded ? bytes.toString('utf8') : null;
}

function mismatch(why: string): RpcError {
  return new RpcError(HEADER_MISMATCH, `Header mismatch: ${why}.`);
}
