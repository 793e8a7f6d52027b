/** JSON of strangers: read as it is written, and in requests with no member twice (docs/decisions.md#one-reading). */
import { hasEscapedName, RepeatedMember, readEscapedNames } from './escaped-names.ts';
import { mayBeInexact, parseExactly } from './exact-json.ts';
import type { JsonScan } from './json-scan.ts';
import { repeatsMember, repeatsOneOf } from './repeated-members.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

/** Throws where the bytes are not UTF-8 (TypeError) or not JSON (SyntaxError), and RepeatedMember. */
export function parseOnce(bytes: Uint8Array): unknown {
  return read(utf8.decode(bytes), bytes, false);
}

/** As `parseOnce`, of bytes that were scanned and are not too costly. */
export function parseScanned(bytes: Uint8Array, { hasEscapedName: isEscaped, members }: JsonScan): unknown {
  const text = utf8.decode(bytes);
  const value: unknown = JSON.parse(text);
  if (isEscaped) return readEscapedNames(text, false);
  if (repeatsOneOf(bytes, value, members)) throw new RepeatedMember();
  return value;
}

/** Two readings of one text. */
export interface Readings {
  readonly value: unknown;
  /** The same, with numbers as they were written (`exact-json.ts`): to be passed on, and for nothing else. */
  readonly exact: unknown;
}

/** Throws as `parseOnce` does. */
export function parseOnceExactly(bytes: Uint8Array): Readings {
  const text = utf8.decode(bytes);
  const value = read(text, bytes, false);
  if (!mayBeInexact(text)) return { value, exact: value };
  const isEscaped = text.includes('\\') && hasEscapedName(bytes);
  return { value, exact: isEscaped ? readEscapedNames(text, false, parseExactly) : parseExactly(text) };
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
