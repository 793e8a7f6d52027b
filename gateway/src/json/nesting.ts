/** How deep JSON goes: whatever reads it, writes it or is sent it recurses, and stacks have an end. */
import { endOfString } from './string-end.ts';

/** Most nested objects and lists; descriptions of tools have a dozen. */
export const MOST_NESTING = 256;

const QUOTE = 0x22;
/** Brackets and braces are this bit apart. */
const BRACE = 0x20;
const [OPENING, CLOSING] = [0x7b, 0x7d];

/**
 * Reports whether a value that was parsed goes deeper. Looks at each value once, level by level and no further, without
 * recursion.
 */
export function nestsTooDeeply(value: unknown): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    const next: unknown[] = [];
    for (const each of level) {
      if (typeof each !== 'object' || each === null) continue;
      if (depth === MOST_NESTING) return true;
      for (const inner of Object.values(each)) if (typeof inner === 'object' && inner !== null) next.push(inner);
    }
    level = next;
  }
  return false;
}

/**
 * Reports whether objects and lists are nested at most so many levels. Reads the bytes before they are parsed, since
 * parsing deep nesting takes long. The result for malformed JSON is arbitrary.
 */
export function isNestedWithin(bytes: Uint8Array, most: number): boolean {
  let depth = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (byte === QUOTE) at = endOfString(bytes, at + 1, bytes.length);
    else if ((byte | BRACE) === OPENING) {
      if (++depth > most) return false;
    } else if ((byte | BRACE) === CLOSING) depth--;
  }
  return true;
}
