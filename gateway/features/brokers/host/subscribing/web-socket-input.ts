/** Input of a WebSocket whose client only listens: pings are answered, and its close frame is reported. */

import type { Duplex } from 'node:stream';
import { Receiver } from 'ws';
import { type CloseStatus, FrameScanner, get, readInTurns, SLICE } from '../../../kit.ts';

export interface WebSocketListener {
  received(bytes: number): void;
  message(): void;
  /** The client has closed it, or violated the protocol; `answer`: the close frame for it, null: without a code. */
  closed(answer: CloseStatus | null): void;
}

/** Bytes of a message, which is not read. */
const MOST_MESSAGE = 64 << 10;
/** Frames in a second, of less than so many bytes on average: a listening client needs no more. */
const MOST_FRAMES = { frames: 1_000, bytes: 16, withinMs: 1_000 };
const TOO_MANY: CloseStatus = { code: 1008, reason: 'too many frames: nothing is read here' };
const PONG = 0x8a;
const NO_CODE = 1005;

export class WebSocketInput {
  readonly #scanner = new FrameScanner({ masked: true, deflate: false, maxMessageBytes: MOST_MESSAGE, held: true });
  /** Since when frames are counted: time, and frames and bytes before. */
  #since = { at: performance.now(), frames: 0, bytes: 0 };
  #bytes = 0;
  readonly #receiver = new Receiver({ isServer: true, maxPayload: MOST_MESSAGE, skipUTF8Validation: true });

  constructor(connection: Duplex, listener: WebSocketListener) {
    const receiver = this.#receiver;
    receiver.on('message', () => listener.message());
    receiver.on('ping', (data) => {
      // A client that does not read its pongs gets no more of them.
      if (connection.writable && !connection.writableNeedDrain) connection.write(pong(data));
    });
    receiver.on('conclude', (code) => listener.closed(code === NO_CODE ? null : { code, reason: '' }));
    receiver.on('error', (error) => listener.closed(closingOf(error)));
    receiver.on('drain', () => connection.resume());
    readInTurns(connection, {
      sliceBytes: SLICE,
      read: (slice) => {
        listener.received(slice.length);
        if (receiver.destroyed) return;
        const fault = this.#faultOf(slice);
        if (fault !== null) {
          receiver.destroy();
          listener.closed(fault);
        } else if (!receiver.write(slice)) connection.pause();
      },
      readOn: () => {
        if (!receiver.writableNeedDrain) connection.resume();
      },
    });
    connection.on('end', () => void connection.end()).on('error', () => {});
    connection.resume();
  }

  destroy(): void {
    this.#receiver.destroy();
  }

  /** Returns why the WebSocket ends: frames that cost more than they can mean. Null if it goes on. */
  #faultOf(slice: Buffer): CloseStatus | null {
    const scanner = this.#scanner;
    scanner.scan(slice);
    this.#bytes += slice.length;
    const { at, frames, bytes } = this.#since;
    const more = scanner.frames - frames;
    if (more > MOST_FRAMES.frames && this.#bytes - bytes < more * MOST_FRAMES.bytes) return TOO_MANY;
    const now = performance.now();
    if (now - at > MOST_FRAMES.withinMs) this.#since = { at: now, frames: scanner.frames, bytes: this.#bytes };
    return scanner.violation?.code === 1008 ? scanner.violation : null;
  }
}

function pong(data: Buffer): Buffer {
  return Buffer.concat([Buffer.from([PONG, data.length]), data]);
}

function closingOf(error: Error): CloseStatus {
  const isTooLarge = get(error, 'code') === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH';
  return isTooLarge
    ? { code: 1009, reason: 'the message is too large' }
    : { code: 1002, reason: 'the protocol is broken' };
}
