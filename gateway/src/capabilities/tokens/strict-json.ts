/** JSON objects of tokens: UTF-8, and no member twice, of which two readers could take different ones (RFC 7515, section 4). */
import { parseTextOnce } from '../../json/parse-once.ts';
import { isObject, type Obj } from '../../spec/json.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Null where the bytes are not such an object. */
export function strictObject(bytes: Uint8Array): Obj | null {
  try {
    const value = parseTextOnce(utf8.decode(bytes));
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
