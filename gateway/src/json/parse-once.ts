/** JSON of strangers: read as it is written, and in requests with no member twice (docs/decisions.md#one-reading). */
import { hasEscapedName, RepeatedMember, readEscapedNames } from './escaped-names.ts';
import { mayBeInexact, parseExactly } from './exact-json.ts';
import type { JsonScan } from './json-scan.ts';
import { repeatsMember, repeatsOneOf } from './repeated-members.ts';
import { hasUnheldNumber, readWithStandIns } from './stand-ins.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

/** Throws if the bytes are not UTF-8 (TypeError) or not JSON (SyntaxError), and RepeatedMember. */
export function parseOnce(bytes: Uint8Array): unknown {
  return read(utf8.decode(bytes), bytes, false);
}

/** Like `parseOnce`, of bytes that were scanned and are not too costly. */
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
  /** The same, with numbers as they were written (`exact-json.ts`): only for passing on. */
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

/** Admits a text of so many characters whose tokens are to be read one by one: throws if that takes too long here. */
export type Admit = (characters: number) => void;

/**
 * Like `parseOnce`, for validation: numbers that JavaScript cannot hold have stand-ins. `lastCounts`: of a repeated
 * member.
 */
export function parseForValidation(bytes: Uint8Array, lastCounts: boolean, admit?: Admit): unknown {
  const text = utf8.decode(bytes);
  return withStandIns(text, read(text, bytes, lastCounts), lastCounts, admit);
}

/** As above for a text; no member may occur twice. */
export function parseTextForValidation(text: string, admit?: Admit): unknown {
  return withStandIns(text, read(text, null, false), false, admit);
}

function withStandIns(text: string, value: unknown, lastCounts: boolean, admit?: Admit): unknown {
  if (!hasUnheldNumber(text)) return value;
  admit?.(text.length);
  return readWithStandIns(text, lastCounts);
}

/** Throws if the text is not JSON (SyntaxError), and RepeatedMember. */
export function parseTextOnce(text: string): unknown {
  return read(text, null, false);
}

function read(text: string, given: Uint8Array | null, lastCounts: boolean): unknown {
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null) return value;
  const bytes = given ?? Buffer.from(text);
  if (text.includes('\\') && hasEscapedName(bytes)) return readEscapedNames(text, lastCounts);
  if (!lastCounts && repeatsMember(bytes, value)) throw new RepeatedMember();
  return value;
}
