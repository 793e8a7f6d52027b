/**
 * A WebSocket of the channel that ends as the protocol defines, also if the library ends it for an oversized message.
 */
import { CLOSE_CODES, MAX_MESSAGE_BYTES } from '@gw/gateway/link-protocol';
import { WebSocket } from 'ws';

/** Message too big (RFC 6455, section 7.4.1). */
const TOO_BIG = 1009;

export class LinkSocket extends WebSocket {
  /** The library calls it for a message past `maxPayload`, of which it reads nothing. */
  override close(code?: number, reason?: string | Buffer): void {
    if (code !== TOO_BIG || this.readyState !== this.OPEN) return super.close(code, reason);
    const detail = `A message may have at most ${MAX_MESSAGE_BYTES} bytes.`;
    this.send(JSON.stringify({ type: 'refused', reason: 'malformed', detail }), () => {});
    super.close(CLOSE_CODES.malformed.code, 'malformed');
  }
}
