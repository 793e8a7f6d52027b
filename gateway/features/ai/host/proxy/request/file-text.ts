/** Files within JSON: tells binary ones from those that a model reads as text. */
import { isUtf8 } from 'node:buffer';
import { get, type Obj } from '../../../../kit.ts';

/**
 * A binary file, or the text in a file. `texts`: as strict and lenient decoders read it. `isExact`: every reader decodes
 * the string so; else it counts as text as it stands, too.
 */
export type FileText =
  | { readonly kind: 'binary' }
  | {
      readonly kind: 'text';
      readonly texts: readonly string[];
      readonly isExact: boolean;
      encode(text: string): string;
    };

/** Characters of Base64 that are looked at first: a multiple of four. */
const HEAD = 4_096;
const BASE64 = /^[A-Za-z0-9+/\r\n]*={0,2}[\r\n]*$/;
const BASE64_URL = /^[A-Za-z0-9_-]*={0,2}$/;
/** Padded pieces in one string; no decoder of files is known to read many. */
const MOST_PIECES = 1_000;
const FOREIGN = /[^A-Za-z0-9+/_=-]/g;
const TEXT_TYPE =
  /^text\/|[/+](?:json|xml|yaml)$|^application\/(?:x-)?(?:javascript|ecmascript|yaml|ndjson|jsonl|sql|sh|toml)$/i;
const TEXT_NAME =
  /\.(?:txt|md|csv|tsv|json|jsonl|xml|html?|ya?ml|toml|log|sql|sh|ini|[cm]?[jt]sx?|py|go|rs|java|rb|c|h)$/i;

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
  const named = typeNamed(get(container, 'filename'));
  if (among(URLS)) return dataUrl(value, named) ?? (key === 'file_data' ? bare(value, named) : null);
  if (among(BYTES)) return bare(value, '');
  if (key === 'url' && name === 'image_url' && outerType === 'image_url') return dataUrl(value, '');
  if (key === 'file_data' && name === 'file' && outerType === 'file')
    return dataUrl(value, named) ?? bare(value, named);
  if (key === 'data' && name === 'input_audio' && outerType === 'input_audio')
    return dataUrl(value, '') ?? bare(value, '');
  if (key === 'data' && name === 'source' && type === 'base64') {
    const mediaType = get(container, 'media_type');
    return bare(value, typeof mediaType === 'string' ? mediaType : '');
  }
  // In answers: speech, beside its transcript; vectors.
  if (key === 'data' && name === 'audio') return bare(value, '');
  if (key === 'embedding' && get(container, 'object') === 'embedding') return bare(value, '');
  return null;
}

/** A file's name says that it is text, whatever its type says. */
function typeNamed(filename: unknown): string {
  return typeof filename === 'string' && TEXT_NAME.test(filename) ? 'text/plain' : '';
}

/** RFC 2397: without a type it is `text/plain`, and without `;base64` percent-encoded. `named`: type by the name. */
function dataUrl(value: string, named: string): FileText | null {
  const comma = value.indexOf(',');
  if (comma < 0 || !/^\s*data:/i.test(value)) return null;
  const [type = '', ...parameters] = value.slice(value.indexOf(':') + 1, comma).split(';');
  const mediaType = named || type.trim() || 'text/plain';
  const prefix = value.slice(0, comma + 1);
  const isBase64 = parameters.some((each) => each.trim().toLowerCase() === 'base64');
  if (isBase64) {
    const found = bare(value.slice(comma + 1), mediaType);
    return found?.kind === 'text' ? { ...found, encode: (text) => prefix + found.encode(text) } : found;
  }
  const bytes = percentDecode(value.slice(comma + 1));
  if (!TEXT_TYPE.test(mediaType) && !isText(bytes)) return null;
  const encode = (text: string) => prefix + encodeURIComponent(text);
  return { kind: 'text', texts: [textOf(bytes)], isExact: false, encode };
}

function percentDecode(text: string): Buffer {
  const bytes = Buffer.from(text).toString('latin1');
  const decoded = bytes.replace(/%([0-9a-f]{2})/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)));
  return Buffer.from(decoded, 'latin1');
}

/** `mediaType`: empty if undeclared. */
function bare(value: string, mediaType: string): FileText | null {
  if (value === '') return null;
  const isTyped = TEXT_TYPE.test(mediaType);
  const isExact = BASE64.test(value);
  // Pictures and ciphers are recognised by their first bytes.
  if (isExact && !isTyped && !isText(Buffer.from(value.slice(0, HEAD), 'base64'), 3)) return { kind: 'binary' };
  const decoded = isExact ? [Buffer.from(value, 'base64')] : decodeLeniently(value);
  const texts = decoded.filter((bytes) => (isTyped && bytes.length > 0) || isText(bytes)).map(textOf);
  if (texts.length > 0) {
    return { kind: 'text', texts, isExact, encode: (text) => Buffer.from(text).toString('base64') };
  }
  return isExact || BASE64_URL.test(value) ? { kind: 'binary' } : null;
}

/**
 * Decoders skip characters outside their alphabet, which is that of URLs or the other one, decode `%XX` before, and end
 * a piece at `=` or skip it.
 */
function decodeLeniently(value: string): readonly Buffer[] {
  const plain = value.includes('%') ? percentDecode(value).toString('latin1') : value;
  const both = plain.replace(FOREIGN, '');
  const spellings = new Set([both, both.replace(/[-_]/g, '')]);
  const found = new Map<string, Buffer>();
  for (const each of spellings) {
    const own = each.split(/=+/, MOST_PIECES + 1);
    for (const pieces of [own.length > MOST_PIECES ? [] : own, [each.replaceAll('=', '')]]) {
      const bytes = Buffer.concat(pieces.map((piece) => Buffer.from(piece, 'base64')));
      found.set(bytes.toString('latin1'), bytes);
    }
  }
  return [...found.values()];
}

/** UTF-16 behind its byte order mark, else UTF-8. */
function textOf(bytes: Buffer): string {
  const encoding = utf16Of(bytes);
  return encoding === null ? bytes.toString() : new TextDecoder(encoding).decode(bytes);
}

function utf16Of(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | null {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  return bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : null;
}

/**
 * Reports whether the bytes are text: pictures, speech and ciphers are malformed UTF-8, or have zeros. `cut`: bytes of
 * a character that may lack its end.
 */
function isText(bytes: Uint8Array, cut = 0): boolean {
  if (bytes.length === 0) return false;
  const encoding = utf16Of(bytes);
  if (encoding !== null) return isUtf16(bytes, encoding, cut > 0);
  if (bytes.includes(0)) return false;
  for (let less = 0; less <= cut; less++) if (isUtf8(bytes.subarray(0, bytes.length - less))) return true;
  return false;
}

/** `isCut`: the end may lack half a character. */
function isUtf16(bytes: Uint8Array, encoding: string, isCut: boolean): boolean {
  try {
    return !new TextDecoder(encoding, { fatal: true }).decode(bytes, { stream: isCut }).includes('\0');
  } catch {
    return false;
  }
}
