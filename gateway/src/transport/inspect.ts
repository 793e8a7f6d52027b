/** Checks rules of RFC 9110 and 9112 that llhttp does not, and reads the fields that concern the connection. */
import type { MessageHead } from '../http1/message-parser.ts';
import { isHost } from './host.ts';

export interface Inspection {
  /** In origin form, or unchanged if it is not a served form. */
  readonly target: string;
  /** Bytes of all headers, names and values. */
  readonly headerBytes: number;
  /** Sends its body when it is told to (`Expect: 100-continue`). */
  readonly waitsForContinue: boolean;
  /** Asks to go on as a WebSocket (RFC 9110, section 7.8). */
  readonly asksForWebSocket: boolean;
  /** Why the request is malformed, or null. */
  readonly fault: string | null;
}

const CONTINUE = /(?:^|\W)100-continue(?:$|\W)/i;
const WEB_SOCKET = /(?:^|,)\s*websocket\s*(?:,|$)/i;

export function inspect({ method, target: url, headers: raw, major, minor, upgrade, length }: MessageHead): Inspection {
  let host: string | undefined;
  let target = url;
  let headerBytes = 0;
  let waitsForContinue = false;
  let namesWebSocket = false;
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
      case 6:
        // Unknown expectations are ignored (RFC 9110, section 10.1.1).
        if (name.toLowerCase() === 'expect' && minor > 0) waitsForContinue ||= CONTINUE.test(raw[i + 1] as string);
        break;
      case 7:
        if (name.toLowerCase() === 'upgrade') namesWebSocket ||= WEB_SOCKET.test(raw[i + 1] as string);
        break;
      case 17:
        if (name.toLowerCase() === 'transfer-encoding') {
          if ((raw[i + 1] as string).trim().toLowerCase() !== 'chunked') fault = 'Transfer-Encoding must be "chunked".';
          if (minor === 0) fault = 'Transfer-Encoding is not part of HTTP/1.0.';
        }
        break;
    }
  }
  if (host === undefined) {
    if (minor > 0) fault = 'The Host header is missing.';
  } else if (!isHost(host)) fault = 'The Host header is not a host with an optional port.';
  if (major !== 1) fault = 'The version must be HTTP/1.1 or HTTP/1.0.';
  if (url.charCodeAt(0) !== 47 && url !== '*') {
    const absolute = fromAbsolute(url);
    if (absolute === null) fault ??= 'The request target must be a path.';
    else {
      target = absolute.origin;
      if (!isSameHost(absolute.authority, host)) fault ??= 'The Host header and the request target differ.';
    }
  }
  // A request with a body, or of another method, is one of HTTP.
  const asksForWebSocket = namesWebSocket && upgrade && method === 'GET' && minor > 0 && length === 0;
  return { target, headerBytes, waitsForContinue, asksForWebSocket, fault };
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
