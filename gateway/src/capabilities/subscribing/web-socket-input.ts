/** What a client sends over a WebSocket on which it has nothing to say: pings are answered, its close is heard. */
import type { Duplex } from 'node:stream';
import { Receiver } from 'ws';
import { get } from '../../spec/json.ts';
import type { Closing } from '../../web-socket-closing.ts';

export interface WebSocketListener {
  received(bytes: number): void;
  message(): void;
  /** The client has closed it, or broken the protocol; with what it is answered, null: without a code. */
  closed(answer: Closing | null): void;
}

/** Bytes of a message, which is not read. */
const MOST_MESSAGE = 64 << 10;
const PONG = 0x8a;
const NO_CODE = 1005;

export class WebSocketInput {
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
    connection.on('data', (chunk: Buffer) => {
      listener.received(chunk.length);
      if (!receiver.destroyed && !receiver.write(chunk)) connection.pause();
    });
    connection.on('end', () => void connection.end()).on('error', () => {});
    connection.resume();
  }

  destroy(): void {
    this.#receiver.destroy();
  }
}

function pong(data: Buffer): Buffer {
  return Buffer.concat([Buffer.from([PONG, data.length]), data]);
}

function closingOf(error: Error): Closing {
  const isTooLarge = get(error, 'code') === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH';
  return isTooLarge
    ? { code: 1009, reason: 'the message is too large' }
    : { code: 1002, reason: 'the protocol is broken' };
}
