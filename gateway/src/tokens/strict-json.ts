/** JSON objects of tokens: UTF-8, and no member twice, of which two readers could take different ones (RFC 7515, section 4). */
import { isObject, type Obj } from '../spec/json.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Null where the bytes are not such an object. */
export function strictObject(bytes: Uint8Array): Obj | null {
  try {
    const text = utf8.decode(bytes);
    const value: unknown = JSON.parse(text);
    return isObject(value) && !repeatsMember(text) ? value : null;
  } catch {
    return null;
  }
}

/** Whether some object of a JSON text has a member twice. The text must be JSON. */
function repeatsMember(text: string): boolean {
  /** The members so far of each open object; null for a list. */
  const open: (Set<string> | null)[] = [];
  /** A string that comes now is a member's name. */
  let named = false;
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    if (char === '"') {
      const end = endOfString(text, i);
      const members = open.at(-1);
      if (named && members) {
        const name = String(JSON.parse(text.slice(i, end)));
        if (members.has(name)) return true;
        members.add(name);
      }
      named = false;
      i = end - 1;
    } else if (char === '{') {
      open.push(new Set());
      named = true;
    } else if (char === '[') {
      open.push(null);
      named = false;
    } else if (char === '}' || char === ']') {
      open.pop();
      named = false;
    } else if (char === ',') {
      named = open.at(-1) !== null;
    }
  }
  return false;
}

function endOfString(text: string, start: number): number {
  let i = start + 1;
  while (text[i] !== '"') i += text[i] === '\\' ? 2 : 1;
  return i + 1;
}
