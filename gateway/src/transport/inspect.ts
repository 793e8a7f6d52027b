/**
 * Checks rules of RFC 9110 and 9112 that Node's parser does not; tells whether a body follows, and a request behind it.
 */
import { isHost } from './host.ts';

export interface RequestHead {
  readonly url: string;
  /** Names and values in turn, as they arrived. */
  readonly rawHeaders: readonly string[];
  readonly httpVersionMajor: number;
  readonly httpVersionMinor: number;
}

export interface Inspection {
  /** In origin form, or unchanged if it is not a served form. */
  readonly target: string;
  readonly hasBody: boolean;
  /** Bytes of all headers, names and values. */
  readonly headerBytes: number;
  /** Asks for another protocol. */
  readonly upgrade: boolean;
  /** Why the request is malformed, or null. */
  readonly fault: string | null;
}

export function inspect({ url, rawHeaders: raw, httpVersionMajor, httpVersionMinor }: RequestHead): Inspection {
  let host: string | undefined;
  let target = url;
  let hasBody = false;
  let headerBytes = 0;
  let upgrade = false;
  let fault: string | null = null;
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] as string;
    headerBytes += name.length + (raw[i + 1] as string).length;
    switch (name.length) {
      case 4:
        if (name.toLowerCase() !== 'host') break;
        if (host !== undefined) fault = 'There is more than one Host header.';
        host = raw[i + 1] as string;
        break;
      case 7:
        if (name.toLowerCase() === 'upgrade') upgrade = true;
        break;
      case 14:
        if (name.toLowerCase() === 'content-length' && raw[i + 1] !== '0') hasBody = true;
        break;
      case 17:
        if (name.toLowerCase() === 'transfer-encoding') {
          hasBody = true;
          if ((raw[i + 1] as string).trim().toLowerCase() !== 'chunked') fault = 'Transfer-Encoding must be "chunked".';
          if (httpVersionMinor === 0) fault = 'Transfer-Encoding is not part of HTTP/1.0.';
        }
        break;
    }
  }
  if (host === undefined) {
    if (httpVersionMinor > 0) fault = 'The Host header is missing.';
  } else if (!isHost(host)) fault = 'The Host header is not a host with an optional port.';
  if (httpVersionMajor !== 1) fault = 'The version must be HTTP/1.1 or HTTP/1.0.';
  if (url.charCodeAt(0) !== 47 && url !== '*') {
    const absolute = fromAbsolute(url);
    if (absolute === null) fault ??= 'The request target must be a path.';
    else {
      target = absolute.origin;
      if (!isSameHost(absolute.authority, host)) fault ??= 'The Host header and the request target differ.';
    }
  }
  return { target, hasBody, headerBytes, upgrade, fault };
}

/** Compares the two; HTTP/1.0 requests may lack Host. */
function isSameHost(authority: string, host: string | undefined): boolean {
  if (host === undefined) return authority !== '' && isHost(authority);
  return authority !== '' && authority.toLowerCase() === host.toLowerCase();
}

const ABSOLUTE = /^https?:\/\/([^/?#]*)(.*)$/is;

/**
 * Returns authority and origin form of an absolute target, which a server must accept (RFC 9112, section 3.2.2), or null
 * unless its scheme is http or https.
 */
function fromAbsolute(target: string): { readonly authority: string; readonly origin: string } | null {
  const [, authority, rest] = ABSOLUTE.exec(target) ?? [];
  if (authority === undefined || rest === undefined) return null;
  return { authority, origin: rest.startsWith('/') ? rest : `/${rest}` };
}
