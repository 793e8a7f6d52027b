/** Finds clients that send or read too slowly: one look at all of them now and then, instead of a timer each. */

import { Slots } from '../memory/slots.ts';

/** One body that a client sends, or the data that it has to read. */
export interface WatchedClient {
  /** The client is the one that delays: bytes of its request are to come, or bytes of responses to be read. */
  readonly waitsForClient: boolean;
  /** Time of the last progress on the monotonic clock: bytes came or left, or the last look found nothing waiting. */
  progressAt: number;
  /** Its slot in the detector. */
  slot: number;
  /** A look found that it waits for the client. */
  stalls?(): void;
  /** Ends the delayed body or response. */
  cutOff(): void;
}

export class StallDetector {
  readonly #timeoutMs: number;
  readonly #clients = new Slots<WatchedClient>();

  /** Milliseconds without progress; 0: no limit. */
  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  add(client: WatchedClient): void {
    client.slot = this.#clients.add(client);
  }

  delete(client: WatchedClient): void {
    this.#clients.remove(client.slot, client);
  }

  sweep(now: number): void {
    for (const client of this.#clients) {
      if (!client.waitsForClient) client.progressAt = now;
      else if (this.#timeoutMs > 0 && now - client.progressAt >= this.#timeoutMs) {
        this.delete(client);
        client.cutOff();
      } else client.stalls?.();
    }
  }
}
