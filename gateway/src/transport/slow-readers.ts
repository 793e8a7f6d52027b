/** Finds clients that do not read their responses: one look at all of them now and then, instead of a timer each. */

export interface WatchedReader {
  /** Bytes of responses wait for the client. */
  readonly waitsForClient: boolean;
  /** On the monotonic clock, when bytes last left, or when the last look found none that waited. */
  progressAt: number;
  /** Ends what the client does not read. */
  cutOff(): void;
}

export class SlowReaders {
  readonly #timeoutMs: number;
  readonly #readers = new Set<WatchedReader>();

  /** Milliseconds without progress; 0: no limit. */
  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  add(reader: WatchedReader): void {
    if (this.#timeoutMs > 0) this.#readers.add(reader);
  }

  delete(reader: WatchedReader): void {
    this.#readers.delete(reader);
  }

  sweep(now: number): void {
    for (const reader of this.#readers) {
      if (!reader.waitsForClient) reader.progressAt = now;
      else if (now - reader.progressAt >= this.#timeoutMs) {
        this.#readers.delete(reader);
        reader.cutOff();
      }
    }
  }
}
