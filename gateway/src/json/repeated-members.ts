/**
 * Decides whether some object of a JSON text has a member twice (docs/decisions.md#one-reading): two readers would take
 * different ones of them. JSON.parse keeps the last, so the text then has more members than the value. Both are
 * counted, which costs a fraction of parsing; only if the counts differ, or objects are so wide that they are slow to
 * enumerate, are names compared.
 */
import { repeatsName } from './member-names.ts';

const QUOTE = 0x22;
const COLON = 0x3a;
const BRACE = 0x7b;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
const FOUR_COLONS = 0x3a3a3a3a;

/** Bytes of short texts. */
const SHORT = 256;
/** Words without a colon after which the host's search is the faster way to the next. */
const FAR = 64;
/** Members of an object, on average, from which on their names are compared in the text at once. */
const WIDE = 256;

/** `value`: the unchanged result of JSON.parse for the text. */
export function repeatsMember(text: Uint8Array, value: unknown): boolean {
  const most = membersAtMost(text);
  if (most < 2) return false;
  if (most >= 2 * WIDE && !hasObjects(text, most / WIDE)) return repeatsName(text);
  return membersOf(value, 0) !== most && repeatsName(text);
}

/** Like `repeatsMember`, if the text is known to have so many members, all of them without escapes in their names. */
export function repeatsOneOf(text: Uint8Array, value: unknown, members: number): boolean {
  return members > 1 && membersOf(value, 0) !== members && repeatsName(text);
}

/** Levels of a value in which members are counted; in a deeper one they do not add up, and names are compared. */
const DEEPEST = 256;

/** Members of all objects in the value. */
function membersOf(value: unknown, depth: number): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (depth > DEEPEST) return Number.NaN;
  let members = 0;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const item: unknown = value[i];
      if (typeof item === 'object' && item !== null) members += membersOf(item, depth + 1);
    }
    return members;
  }
  for (const name in value) {
    members++;
    const member: unknown = (value as Record<string, unknown>)[name];
    if (typeof member === 'object' && member !== null) members += membersOf(member, depth + 1);
  }
  return members;
}

/** Short texts are copied here: cheaper than a view of their words. */
const short = new Uint8Array(SHORT + 4);
const shortWords = new Int32Array(short.buffer);

/** Colons that may stand behind a member's name: each that does, and few others. */
function membersAtMost(text: Uint8Array): number {
  const { length } = text;
  if (length <= SHORT) {
    const count = (length + 3) >> 2;
    shortWords[count - 1] = 0;
    short.set(text);
    return membersIn(short, shortWords, 0, count);
  }
  const first = (4 - (text.byteOffset & 3)) & 3;
  const count = (length - first) >> 2;
  let members = membersIn(text, new Int32Array(text.buffer, text.byteOffset + first, count), first, count);
  for (let i = 0; i < first; i++) if (text[i] === COLON && endsName(text, i)) members++;
  for (let i = first + 4 * count; i < length; i++) if (text[i] === COLON && endsName(text, i)) members++;
  return members;
}

/** In so many `words`, which begin at `first` in the text. */
function membersIn(text: Uint8Array, words: Int32Array, first: number, count: number): number {
  let members = 0;
  let far = FAR;
  for (let i = 0; i < count; i++) {
    const word = (words[i] as number) ^ FOUR_COLONS;
    // Some byte of it is zero, which a colon becomes.
    if (((word - 0x01010101) & ~word & 0x80808080) !== 0) {
      const at = first + 4 * i;
      if ((word & 0xff) === 0 && endsName(text, at)) members++;
      if ((word & 0xff00) === 0 && endsName(text, at + 1)) members++;
      if ((word & 0xff0000) === 0 && endsName(text, at + 2)) members++;
      if ((word & 0xff000000) === 0 && endsName(text, at + 3)) members++;
      far = i + FAR;
    } else if (i === far) {
      const next = indexOf(text, COLON, first + 4 * i);
      if (next < 0) break;
      i = ((next - first) >> 2) - 1;
      far = i + FAR;
    }
  }
  return members;
}

/** Reports whether the colon stands behind white space, or behind a quote that is not escaped. */
function endsName(text: Uint8Array, colon: number): boolean {
  const before = text[colon - 1] as number;
  if (before === QUOTE) return text[colon - 2] !== BACKSLASH || !isEscaped(text, colon - 1);
  return before <= SPACE;
}

function isEscaped(text: Uint8Array, quote: number): boolean {
  let at = quote;
  while (text[at - 1] === BACKSLASH) at--;
  return ((quote - at) & 1) === 1;
}

/** Reports whether there are more than so many. */
function hasObjects(text: Uint8Array, most: number): boolean {
  let at = -1;
  for (let objects = 0; objects <= most; objects++) {
    at = indexOf(text, BRACE, at + 1);
    if (at < 0) return false;
  }
  return true;
}

/** As on a Buffer, for which the host searches many bytes at a time. */
function indexOf(text: Uint8Array, byte: number, from: number): number {
  return Buffer.prototype.indexOf.call(text, byte, from);
}
