/** Holds an upstream's body until it is whole, or turns out too large to be held. */
import { Writable } from 'node:stream';
import type { ResponseSink } from './exchange.ts';

export interface Holding {
  /** Bytes. */
  readonly limit: number;
  /** The body is whole; what becomes of it is the caller's. */
  whole(body: Buffer): Promise<void>;
  /** The body is over the limit: where it goes instead, from its first byte. Null where it goes nowhere. */
  overflow(): Promise<ResponseSink | null>;
  /** `whole` or `overflow` rejected. */
  failed(error: unknown): void;
}

export function holdResponse(holding: Holding): Writable {
  const chunks: Uint8Array[] = [];
  let held = 0;
  /** Undefined while the body is held. */
  let passing: ResponseSink | null | undefined;

  async function pass(chunk: Uint8Array): Promise<void> {
    if (passing === undefined) {
      passing = await holding.overflow();
      for (const each of chunks.splice(0)) passing?.write(each);
    }
    const sink = passing;
    if (sink === null || sink.destroyed || sink.write(chunk)) return;
    await new Promise<void>((resolve) => {
      sink.once('drain', resolve);
      sink.once('close', resolve);
    });
  }

  return new Writable({
    write(chunk: Uint8Array, _encoding, done) {
      held += chunk.length;
      if (held <= holding.limit) {
        chunks.push(chunk);
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
      if (passing === undefined) holding.whole(Buffer.concat(chunks)).catch((error: unknown) => holding.failed(error));
      else passing?.end();
    },
  });
}
