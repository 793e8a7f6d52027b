/** Holds an upstream's body until it is whole, or turns out too large to be held. */
import { Writable } from 'node:stream';
import { CLIENT_CLOSED, type Exchange, type ResponseSink } from '../exchange.ts';
import type { BufferBudget, Holding as HeldBytes } from '../memory/buffer-budget.ts';
import { holdFor } from '../memory/request-holding.ts';
import { ByteCollector } from '../streams/byte-collector.ts';
import { writeWithBackpressure } from '../streams/write-with-backpressure.ts';

/**
 * Bytes of one response, counted from the upstream's first until the client has all of them
 * (docs/decisions.md#bodies-in-memory).
 */
export class HeldResponseBytes {
  readonly #exchange: Exchange;
  readonly #held: HeldBytes;

  constructor(exchange: Exchange, budget: BufferBudget) {
    this.#exchange = exchange;
    this.#held = holdFor(budget, exchange);
    exchange.onClose(() => this.#held.release());
  }

  /** Returns false if there is no room for so many more bytes. */
  take(bytes: number): boolean {
    return this.#held.take(bytes);
  }

  /** The bytes have been sent, and have left memory. */
  release(): void {
    this.#held.release();
  }

  /** The bytes are on their way: from now on the client delays their end, and may lose them to others. */
  sent(): void {
    const sentAt = performance.now();
    const exchange = this.#exchange;
    this.#held.evictable = {
      rate: (now) => this.#held.bytes / Math.max(1, now - sentAt),
      evict() {
        exchange.close(CLIENT_CLOSED);
        exchange.responder.abort();
      },
    };
  }
}

export interface Holding {
  /** Bytes. */
  readonly limit: number;
  readonly bytes: HeldResponseBytes;
  /** The body is whole; the caller decides what follows. */
  whole(body: Buffer): Promise<void>;
  /** The body is over the limit. Returns the sink for it, from its first byte; null: it is dropped. */
  overflow(): Promise<ResponseSink | null>;
  /** There is no room for it: it is dropped. */
  refused(): Promise<void>;
  /** `whole` or `overflow` rejected. */
  failed(error: unknown): void;
}

export function holdResponse(holding: Holding): Writable {
  const collected = new ByteCollector();
  let held = 0;
  /** Undefined while the body is held. */
  let passing: ResponseSink | null | undefined;

  async function pass(chunk: Uint8Array): Promise<void> {
    if (passing === undefined) {
      passing = await holding.overflow();
      for (const each of collected.take()) passing?.write(each);
    }
    const sink = passing;
    if (sink !== null && !sink.destroyed) await writeWithBackpressure(sink, chunk);
    holding.bytes.release();
  }

  function refuse(): void {
    passing = null;
    collected.take();
    holding.refused().catch((error: unknown) => holding.failed(error));
  }

  return new Writable({
    write(chunk: Uint8Array, _encoding, done) {
      held += chunk.length;
      if (passing === undefined && held <= holding.limit) {
        if (holding.bytes.take(chunk.length)) collected.add(chunk);
        else refuse();
        return done();
      }
      pass(chunk)
        .catch((error: unknown) => {
          passing = null;
          holding.failed(error);
        })
        .finally(() => done());
    },
    final(done) {
      done();
      if (passing === undefined) holding.whole(collected.takeWhole()).catch((error: unknown) => holding.failed(error));
      else passing?.end();
    },
  });
}
