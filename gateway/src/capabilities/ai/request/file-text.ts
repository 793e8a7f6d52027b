/** Files within JSON: tells binary ones from those that a model reads as text. */
import { isUtf8 } from 'node:buffer';
import { get, type Obj } from '../../../spec/json.ts';

/** A binary file, or the text in a file. */
export type FileText =
  | { readonly kind: 'binary' }
  | { readonly kind: 'text'; readonly text: string; encode(text: string): string };

/** Characters of Base64 that are looked at first: a multiple of four. */
const HEAD = 4_096;
const BASE64 = /^[A-Za-z0-9+/\r\n]*={0,2}[\r\n]*$/;
const BASE64_URL = /^[A-Za-z0-9_-]*={0,2}$/;
const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+)((?:;[\w.+-]+=[\w.+-]+)*);base64,/i;
const TEXT_TYPE =
  /^text\/|[/+](?:json|xml|yaml)$|^application\/(?:x-)?(?:javascript|ecmascript|yaml|ndjson|jsonl|sql|sh|toml)$/i;

/** Places of a file by the type of their part, and of the part around it. */
const URLS: readonly (readonly [key: string, ...types: string[]])[] = [
  ['image_url', 'input_image', 'image_url', 'computer_screenshot'],
  ['file_data', 'input_file'],
];
const BYTES: readonly (readonly [key: string, ...types: string[]])[] = [
  ['result', 'image_generation_call'],
  ['signature', 'thinking', 'signature_delta', 'reasoning.text'],
  ['data', 'redacted_thinking', 'reasoning.encrypted'],
  ['encrypted_content', 'reasoning', 'compaction', 'web_search_result', 'message'],
  ['partial_image_b64', 'response.image_generation_call.partial_image'],
  ['delta', 'response.audio.delta', 'response.output_audio.delta'],
];

/**
 * Returns null if the string at a place is text. `outer`: the object that has `container` as its member `name`. Places
 * are exact, and a string there counts as a file only if it is Base64 of binary data.
 */
export function fileText(container: Obj, key: string, value: string, outer: Obj | null, name: string): FileText | null {
  const type = get(container, 'type');
  const outerType = outer === null ? undefined : get(outer, 'type');
  const among = (places: typeof URLS) =>
    places.some(([at, ...types]) => at === key && types.some((each) => each === type));
  if (among(URLS)) return dataUrl(value) ?? (key === 'file_data' ? bare(value, '') : null);
  if (among(BYTES)) return bare(value, '');
  if (key === 'url' && name === 'image_url' && outerType === 'image_url') return dataUrl(value);
  if (key === 'file_data' && name === 'file' && outerType === 'file') return dataUrl(value) ?? bare(value, '');
  if (key === 'data' && name === 'input_audio' && outerType === 'input_audio') return dataUrl(value) ?? bare(value, '');
  if (key === 'data' && name === 'source' && type === 'base64') {
    const mediaType = get(container, 'media_type');
    return typeof mediaType === 'string' ? bare(value, mediaType) : null;
  }
  // In answers: speech, beside its transcript; vectors.
  if (key === 'data' && name === 'audio') return bare(value, '');
  if (key === 'embedding' && get(container, 'object') === 'embedding') return bare(value, '');
  return null;
}

function dataUrl(value: string): FileText | null {
  const head = DATA_URL.exec(value);
  if (head === null) return null;
  const [prefix, mediaType = ''] = head;
  const found = bare(value.slice(prefix.length), mediaType);
  if (found === null || found.kind === 'binary') return found;
  return { ...found, encode: (text) => prefix + found.encode(text) };
}

/** `mediaType`: empty if undeclared. */
function bare(value: string, mediaType: string): FileText | null {
  if (value === '' || !(BASE64.test(value) || BASE64_URL.test(value))) return null;
  const isTyped = TEXT_TYPE.test(mediaType);
  // Pictures and ciphers are recognised by their first bytes.
  if (!isTyped && !isText(Buffer.from(value.slice(0, HEAD), 'base64'), 3)) return { kind: 'binary' };
  const bytes = Buffer.from(value, 'base64');
  if (!isTyped && !isText(bytes)) return { kind: 'binary' };
  return { kind: 'text', text: bytes.toString(), encode: (text) => Buffer.from(text).toString('base64') };
}

/**
 * Reports whether the bytes are text: pictures, speech and ciphers are malformed UTF-8, or have zeros. `cut`: bytes of
 * a character that may lack its end.
 */
function isText(bytes: Uint8Array, cut = 0): boolean {
  if (bytes.length === 0 || bytes.includes(0)) return false;
  for (let less = 0; less <= cut; less++) if (isUtf8(bytes.subarray(0, bytes.length - less))) return true;
  return false;
}
