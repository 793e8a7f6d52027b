/** A request's body on its way into a call, as its client sends it. */
import { Readable } from 'node:stream';
import type { BodyStream } from '../exchange.ts';

export class StreamedBody {
  /** As undici takes it. */
  readonly sent: Readable;
  readonly #source: BodyStream;

  /** `progressed`: a piece has come, or the last one has been sent. */
  constructor(source: BodyStream, progressed: () => void) {
    this.#source = source;
    // The call fails with the source's error.
    this.sent = Readable.from(pieces(source, progressed)).on('error', () => {});
  }

  /** The client has yet to send more of it. */
  get waitsForClient(): boolean {
    return !this.#source.readableEnded && this.#source.waitsForClient;
  }

  /** Drops the rest. */
  discard(): void {
    this.#source.destroy();
  }
}

async function* pieces(source: BodyStream, progressed: () => void): AsyncGenerator<Uint8Array> {
  // Left early, the body would be one that has failed, which is for its client to bring about.
  for await (const piece of source.iterator({ destroyOnReturn: false })) {
    progressed();
    yield piece;
  }
  progressed();
}
