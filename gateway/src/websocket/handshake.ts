/** The opening handshake on both sides (RFC 6455, section 4; RFC 8441 for clients over HTTP/2). */
import { createHash, randomBytes } from 'node:crypto';
import { changeHeader, type Exchange, type HeaderList, headerOf, joinedHeader } from '../exchange.ts';
import { type Problem, problem } from '../problems.ts';
import { mayAgree, offeredExtensions } from './extensions.ts';

const VERSION = '13';
const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
/** Sixteen bytes in base64; the last character of the data holds two bits of them. */
const KEY = /^[A-Za-z0-9+/]{21}[AQgw]==$/;
const UPGRADE = ['upgrade', 'websocket', 'connection', 'Upgrade'];

export const EXTENSIONS = 'sec-websocket-extensions';
export const PROTOCOL = 'sec-websocket-protocol';

/** Returns why a request cannot become a WebSocket; null if it can. */
export function refusalOf({ upgrade, headers }: Exchange): Problem | null {
  if (upgrade === null) {
    const detail = 'This operation speaks WebSocket: send a GET with "Upgrade: websocket" and no body.';
    return problem('upgrade-required', detail, { headers: UPGRADE });
  }
  if (headerOf(headers, 'sec-websocket-version') !== VERSION) {
    const detail = `The WebSocket version must be ${VERSION}.`;
    return problem('upgrade-required', detail, { headers: [...UPGRADE, 'sec-websocket-version', VERSION] });
  }
  if (upgrade.keyed && !KEY.test(headerOf(headers, 'sec-websocket-key') ?? '')) {
    return problem('malformed-request', 'The Sec-WebSocket-Key is not 16 bytes in base64.');
  }
  return null;
}

/** Returns the proof that a server has read the key. */
function acceptOf(key: string): string {
  return createHash('sha1')
    .update(key + GUID)
    .digest('base64');
}

/** The handshake with an upstream, for one client's. */
export class UpstreamHandshake {
  readonly protocol = 'websocket';
  readonly #key = randomBytes(16).toString('base64');
  readonly #extensions: string;
  readonly #protocols: readonly string[];

  /** `plain`: messages must be readable, so compression is not offered. */
  constructor({ headers }: Pick<Exchange, 'headers'>, plain: boolean) {
    this.#extensions = plain ? '' : offeredExtensions(joinedHeader(headers, EXTENSIONS));
    this.#protocols = (joinedHeader(headers, PROTOCOL) ?? '').split(',').map((each) => each.trim());
  }

  /** Puts the handshake's own into the headers of the request to the upstream: the key is the gateway's. */
  apply(headers: HeaderList): void {
    changeHeader(headers, 'set', 'sec-websocket-key', this.#key);
    changeHeader(headers, 'set', 'sec-websocket-version', VERSION);
    if (this.#extensions === '') changeHeader(headers, 'remove', EXTENSIONS, '');
    else changeHeader(headers, 'set', EXTENSIONS, this.#extensions);
  }

  /** Returns the fault of an answer that switches protocols; null if it is valid (section 4.1). */
  faultOf(status: number, headers: HeaderList, upgrade: string): string | null {
    if (status !== 101 || upgrade.toLowerCase() !== 'websocket') return 'it does not switch to WebSocket';
    if (headerOf(headers, 'sec-websocket-accept') !== acceptOf(this.#key)) return 'its Sec-WebSocket-Accept is wrong';
    if (!mayAgree(joinedHeader(headers, EXTENSIONS), this.#extensions)) {
      return 'it uses an extension that was not offered';
    }
    const protocol = joinedHeader(headers, PROTOCOL);
    if (protocol !== undefined && !this.#protocols.includes(protocol)) {
      return 'it chose a sub-protocol that was not offered';
    }
    return null;
  }
}

/** Turns an upstream's headers into those for the client: with the answer to its own key, if it has one. */
export function acceptClient({ upgrade, headers: asked }: Exchange, headers: HeaderList): void {
  changeHeader(headers, 'remove', 'sec-websocket-accept', '');
  changeHeader(headers, 'remove', 'content-length', '');
  if (!upgrade?.keyed) return;
  headers.push('sec-websocket-accept', acceptOf(headerOf(asked, 'sec-websocket-key') ?? ''));
}
