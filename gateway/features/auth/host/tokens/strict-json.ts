/**
 * JSON objects of tokens: UTF-8, no member twice, of which two readers could take different ones (RFC 7515, section 4),
 * and no half of a surrogate pair: it has no UTF-8, and names that differ in it alone would become one.
 */
import { isObject, isQuickJson, type Obj, parseTextOnce } from '../../../kit.ts';

/** Matches escapes: valid UTF-8 has no surrogates. */
const SURROGATE = /\\u[dD][89a-fA-F]/;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Returns null if the bytes are not such an object. */
export function strictObject(bytes: Uint8Array): Obj | null {
  if (!isQuickJson(bytes)) return null;
  try {
    const text = utf8.decode(bytes);
    const value = parseTextOnce(text);
    if (!isObject(value) || (SURROGATE.test(text) && hasLoneSurrogate(value))) return null;
    return value;
  } catch {
    return null;
  }
}

/**
 * JSON.stringify escapes lone surrogates, and them alone (ECMA-262, QuoteJSONString); text that looks like an escape
 * has two backslashes.
 */
function hasLoneSurrogate(value: Obj): boolean {
  return /(?<!\\)(?:\\\\)*\\ud[89a-f]/.test(JSON.stringify(value));
}
