/** Reads the head of an HTTP/2 request for the pipeline, and checks rules of RFC 9113 that nghttp2 does not. */
import type { HeaderList } from '../exchange.ts';
import { isHost } from './host.ts';

export interface Http2Request {
  /** For an extended CONNECT with a supported protocol, its counterpart: GET. */
  readonly method: string;
  readonly target: string;
  /** Headers with `host` from `:authority`, and one `cookie` (section 8.2.3). */
  readonly headers: HeaderList;
  /** Bytes of all fields, names and values. */
  readonly headerBytes: number;
  /** Why the request is malformed, or null. */
  readonly fault: string | null;
  readonly waitsForContinue: boolean;
  /** Protocol of an extended CONNECT (RFC 8441, section 4); null for requests of HTTP. */
  readonly protocol: string | null;
}

/** A byte that no request target holds (RFC 3986, section 2): one above ASCII, a control byte, or white space. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a target must not hold
const NOT_IN_TARGET = /[\u0000-\u0020\u007f-\uffff]/;

export const WEB_SOCKET = 'websocket';

/** Reads names and values in turn, pseudo headers first. */
export function requestOf(raw: readonly string[]): Http2Request {
  let method = '';
  let target = '';
  let protocol: string | null = null;
  let authority: string | undefined;
  let host: string | undefined;
  let cookie: string | undefined;
  let headerBytes = 0;
  let fault: string | null = null;
  let waitsForContinue = false;
  const headers: HeaderList = [];
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] as string;
    const value = raw[i + 1] as string;
    headerBytes += name.length + value.length;
    if (isSpace(value.charCodeAt(0)) || isSpace(value.charCodeAt(value.length - 1))) {
      fault = 'The value of a field begins or ends with white space.';
    }
    switch (name) {
      case ':method':
        method = value;
        break;
      case ':path':
        target = value;
        break;
      case ':protocol':
        protocol = value;
        break;
      case ':authority':
        authority = value;
        break;
      case ':scheme':
        break;
      case 'host':
        if (host !== undefined) fault = 'There is more than one Host header.';
        host = value;
        break;
      case 'cookie':
        cookie = cookie === undefined ? value : `${cookie}; ${value}`;
        break;
      case 'expect':
        waitsForContinue = value.toLowerCase() === '100-continue';
        headers.push(name, value);
        break;
      default:
        headers.push(name, value);
    }
  }
  if (authority !== undefined && host !== undefined && authority.toLowerCase() !== host.toLowerCase()) {
    fault = 'The Host header and :authority differ.';
  }
  if (NOT_IN_TARGET.test(target)) fault = 'The :path holds a byte that must be percent-encoded.';
  const name = authority ?? host;
  if (name === undefined) fault = 'The :authority is missing.';
  else {
    if (!isHost(name)) fault = 'The :authority is not a host with an optional port.';
    headers.push('host', name);
  }
  if (cookie !== undefined) headers.push('cookie', cookie);
  if (protocol === WEB_SOCKET) method = 'GET';
  return { method, target, headers, headerBytes, fault, waitsForContinue, protocol };
}

/** RFC 9113, section 8.2.1. NaN, of an empty value, does not count. */
function isSpace(code: number): boolean {
  return code === 32 || code === 9;
}
