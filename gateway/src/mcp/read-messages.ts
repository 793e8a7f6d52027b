/**
 * Reads messages of clients. A long one takes up to 15 ms, which nothing can interrupt: these are read one at a time,
 * clients take turns, and other requests have the event loop in between (docs/decisions.md#mcp-long-messages).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Exchange, Interrupted } from '../exchange.ts';
import { parsedSize } from '../json/parsed-size.ts';
import { problem } from '../problems.ts';
import { Crowded, FairQueue } from '../shares/fair-queue.ts';
import { networkOf } from '../shares/owner.ts';
import { type RpcMessage, readMessage } from './protocol/json-rpc.ts';

/** Bytes of a message that is read at once. */
const SHORT = 16 << 10;
/** Milliseconds for others, for each that a long message took. */
const OTHERS = 2;
/** A message is read twice: as it is, and with numbers as they were written. */
const READINGS = 2;

export class MessageReader {
  readonly #queue: FairQueue;

  /** `mostWaiting`: long messages that wait to be read; by default 256. */
  constructor({ mostWaiting = 256 } = {}) {
    this.#queue = new FairQueue({ atOnce: 1, mostWaiting, mostMs: 10_000 });
  }

  /** Holds its memory until the request ends. Throws RpcError, and Interrupted if there is no room, with the answer. */
  async read(exchange: Exchange, body: Uint8Array): Promise<RpcMessage> {
    if (!exchange.holdMore(READINGS * parsedSize(body))) {
      throw overloaded(exchange, 'The gateway has no room for the message. Try again.');
    }
    if (body.length <= SHORT) return readMessage(body);
    const read = Promise.withResolvers<RpcMessage>();
    this.#queue
      .run(networkOf(exchange), async () => {
        const from = performance.now();
        if (exchange.closed) read.reject(new Interrupted());
        else read.resolve(Promise.try(readMessage, body));
        await sleep(OTHERS * (performance.now() - from));
      })
      .catch((error: unknown) => {
        const refused = error instanceof Crowded;
        read.reject(refused ? overloaded(exchange, 'Too many long messages wait to be read. Try again.') : error);
      });
    return read.promise;
  }
}

function overloaded(exchange: Exchange, detail: string): Interrupted {
  exchange.answer = { problem: problem('overloaded', detail) };
  return new Interrupted();
}
