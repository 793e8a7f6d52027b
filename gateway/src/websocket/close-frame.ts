/** A close frame of the gateway's own (RFC 6455, section 5.5.1). */
import { randomBytes } from 'node:crypto';
import type { CloseStatus } from '../close-status.ts';

const FIN_CLOSE = 0x88;
const MASK = 0x80;

/** `masked`: for servers, since clients must mask their frames. */
export function closeFrame({ code, reason }: CloseStatus, masked: boolean): Buffer {
  const payload = Buffer.alloc(2 + Buffer.byteLength(reason));
  payload.writeUInt16BE(code);
  payload.write(reason, 2);
  if (!masked) return Buffer.concat([Buffer.from([FIN_CLOSE, payload.length]), payload]);
  const mask = randomBytes(4);
  for (let i = 0; i < payload.length; i++) payload[i] = (payload[i] as number) ^ (mask[i % 4] as number);
  return Buffer.concat([Buffer.from([FIN_CLOSE, MASK | payload.length]), mask, payload]);
}

/** Bytes of a reason at most (section 5.5). */
const MOST = 123;

/** Returns the text, cut to the length that a close frame holds. */
export function closeReason(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= MOST) return text;
  return `${bytes.toString('utf8', 0, MOST - 3).replace(/\uFFFD+$/, '')}…`;
}
