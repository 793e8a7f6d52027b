/** How deep JSON goes, read from its bytes: before it is parsed, since parsing what is deep takes long. */
import { endOfString } from './string-end.ts';

const QUOTE = 0x22;
/** Brackets and braces are this bit apart. */
const BRACE = 0x20;
const [OPENING, CLOSING] = [0x7b, 0x7d];

/** Whether objects and lists are at most so many levels within each other. Of what is no JSON it says something. */
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
