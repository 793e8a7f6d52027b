/** The body of a request to a provider that speaks the protocol of the surface: as the client sent it, byte for byte. */
import type { Obj } from '../../../../kit.ts';

const BRACE = 0x7b;
const COMMA = 0x2c;

/**
 * The body with these members in it, which it has not, or has with another value: then it is written anew. `parsed` is
 * its value, with members of its own.
 */
export function bodyWith(body: Uint8Array, parsed: Obj, members: Obj): Uint8Array {
  const names = Object.keys(members);
  if (names.length === 0) return body;
  if (names.some((name) => Object.hasOwn(parsed, name))) return Buffer.from(JSON.stringify({ ...parsed, ...members }));
  const start = body.indexOf(BRACE) + 1;
  const added = Buffer.from(JSON.stringify(members).slice(1, -1));
  return Buffer.concat([body.subarray(0, start), added, Uint8Array.of(COMMA), body.subarray(start)]);
}
