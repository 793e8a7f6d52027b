/** JSON of strangers: read as it is written, and in requests with no member twice (docs/decisions.md#one-reading). */
import { hasEscapedName, RepeatedMember, readEscapedNames } from './escaped-names.ts';
import { repeatsMember } from './repeated-members.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

/** Throws where the bytes are not UTF-8 (TypeError) or not JSON (SyntaxError), and RepeatedMember. */
export function parseOnce(bytes: Uint8Array): unknown {
  return read(utf8.decode(bytes), bytes, false);
}

/** Throws where the text is not JSON (SyntaxError), and RepeatedMember. */
export function parseTextOnce(text: string): unknown {
  return read(text, null, false);
}

/** As `parseOnce`, where of a repeated member the last counts. */
export function parseLast(bytes: Uint8Array): unknown {
  return read(utf8.decode(bytes), bytes, true);
}

function read(text: string, given: Uint8Array | null, lastCounts: boolean): unknown {
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null) return value;
  const bytes = given ?? Buffer.from(text);
  if (text.includes('\\') && hasEscapedName(bytes)) return readEscapedNames(text, lastCounts);
  if (!lastCounts && repeatsMember(bytes, value)) throw new RepeatedMember();
  return value;
}
