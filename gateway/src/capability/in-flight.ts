/**
 * What waits for the acknowledgement of brokers and other servers, bounded for the process. Each broker may hold as much as is left
 * free (dynamic thresholds, as switches share their buffers): one that hangs holds half at most, and there is
 * always room for one that works.
 */

export interface InFlightLimits {
  readonly messages: number;
  readonly bytes: number;
}

/** For all brokers of a process. */
export const IN_FLIGHT_LIMITS: InFlightLimits = { messages: 20_000, bytes: 64 << 20 };

/** What a message costs beside its payload, key and headers. */
const MESSAGE_BYTES = 1_024;

export class InFlight {
  readonly #limits: InFlightLimits;
  #messages = 0;
  #bytes = 0;

  constructor(limits: InFlightLimits = IN_FLIGHT_LIMITS) {
    this.#limits = limits;
  }

  get messages(): number {
    return this.#messages;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Of one broker; holds nothing yet. */
  share(): Share {
    return new Share(this);
  }

  /** For `Share`. */
  take(share: Share, bytes: number): boolean {
    const { messages, bytes: most } = this.#limits;
    if (share.messages + 1 > messages - this.#messages) return false;
    if (share.bytes + bytes > most - this.#bytes) return false;
    this.#messages++;
    this.#bytes += bytes;
    return true;
  }

  /** For `Share`. */
  give(bytes: number): void {
    this.#messages--;
    this.#bytes -= bytes;
  }
}

export class Share {
  readonly #all: InFlight;
  messages = 0;
  bytes = 0;

  constructor(all: InFlight) {
    this.#all = all;
  }

  /** Takes room for a message of this size; returns the function that gives it back, or null where there is none. */
  take(size: number): (() => void) | null {
    const bytes = size + MESSAGE_BYTES;
    if (!this.#all.take(this, bytes)) return null;
    this.messages++;
    this.bytes += bytes;
    return () => {
      this.messages--;
      this.bytes -= bytes;
      this.#all.give(bytes);
    };
  }
}
