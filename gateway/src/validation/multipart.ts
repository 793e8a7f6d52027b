/**
 * Reads `multipart/form-data` that is whole in memory (RFC 7578, RFC 2046 section 5.1). Strict about differences
 * between readers (text before the first boundary, boundaries that begin others, repeated or folded headers, transfer
 * encodings), so that an upstream finds the validated parts.
 */
import { isUtf8, mediaTypeOf, parametersOf } from '../headers/media-type.ts';

export interface Part {
  readonly name: string;
  readonly filename: string | undefined;
  /** Lower case, without parameters; undefined if the part has no type. */
  readonly type: string | undefined;
  /** It says so, or says no charset. */
  readonly isUtf8: boolean;
  readonly body: Buffer;
}

/** Parts, or pairs, of one form. */
export const MOST_FIELDS = 1000;
/** Bytes of the headers of one part. */
const MOST_HEADERS = 16_384;
const BOUNDARY = /^[A-Za-z0-9'()+_,\-./:=? ]{0,69}[A-Za-z0-9'()+_,\-./:=?]$/;
const IDENTITY = new Set(['7bit', '8bit', 'binary']);

/** The parts in order, or why they cannot be read. */
export function readMultipart(contentType: string, body: Uint8Array): readonly Part[] | string {
  const parameters = parametersOf(contentType);
  if (hasExtended(parameters, [])) return 'has an extended parameter in its content type';
  const boundary = parameters?.get('boundary');
  if (boundary === undefined || !BOUNDARY.test(boundary)) return 'has no valid boundary';
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1');
  const first = delimiter.subarray(2);
  if (!bytes.subarray(0, first.length).equals(first)) return 'does not begin with its boundary';
  const parts: Part[] = [];
  let at = first.length;
  while (bytes.toString('latin1', at, at + 2) !== '--') {
    while (bytes[at] === 32 || bytes[at] === 9) at++;
    if (bytes.toString('latin1', at, at + 2) !== '\r\n') return 'has a malformed boundary line';
    if (parts.length === MOST_FIELDS) return `has more than ${MOST_FIELDS} parts`;
    // A part without headers has an empty line at once: it has no name, and is refused as such.
    const head = bytes.subarray(at, at + MOST_HEADERS).indexOf('\r\n\r\n');
    if (head < 0) return 'has a part whose headers do not end';
    const end = bytes.indexOf(delimiter, at + head + 2);
    if (end < 0) return 'does not end with its boundary';
    if (end < at + head + 4) return 'has a part without a body';
    const part = readPart(bytes.toString('utf8', at + 2, at + head), bytes.subarray(at + head + 4, end));
    if (typeof part === 'string') return part;
    parts.push(part);
    at = end + delimiter.length;
  }
  const rest = bytes.subarray(at + 2);
  return rest.length === 0 || (rest.length === 2 && rest.toString('latin1') === '\r\n')
    ? parts
    : 'has something after its last boundary';
}

function readPart(head: string, body: Buffer): Part | string {
  const headers = new Map<string, string>();
  for (const line of head === '' ? [] : head.split('\r\n')) {
    const [, name, value] = /^([A-Za-z0-9-]+):[ \t]*([^\r\n\0]*)$/.exec(line) ?? [];
    if (name === undefined || value === undefined || headers.has(name.toLowerCase())) {
      return 'has a part with a malformed or repeated header';
    }
    headers.set(name.toLowerCase(), value);
  }
  const disposition = headers.get('content-disposition') ?? '';
  const parameters = parametersOf(disposition);
  const name = parameters?.get('name');
  if (mediaTypeOf(disposition) !== 'form-data' || name === undefined) {
    return 'has a part without a valid Content-Disposition';
  }
  if (hasExtended(parameters, ['filename*'])) return 'has an extended parameter in a Content-Disposition';
  const encoding = headers.get('content-transfer-encoding');
  if (encoding !== undefined && !IDENTITY.has(encoding.trim().toLowerCase())) {
    return 'has a part with a transfer encoding';
  }
  const type = headers.get('content-type');
  return {
    name,
    filename: parameters?.get('filename') ?? parameters?.get('filename*'),
    type: type && mediaTypeOf(type),
    isUtf8: isUtf8(type),
    body,
  };
}

/** Some servers read `name*` and `name*0` (RFC 2231, which RFC 7578 does not use) in the place of `name`. */
function hasExtended(parameters: ReadonlyMap<string, string> | null, known: readonly string[]): boolean {
  return [...(parameters?.keys() ?? [])].some((name) => name.includes('*') && !known.includes(name));
}
