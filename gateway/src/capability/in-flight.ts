/**
 * Messages that wait for the acknowledgement of brokers and other servers, bounded for the process. Each broker may
 * hold as much as is left free (dynamic thresholds, as switches share their buffers): one that hangs holds half at
 * most, and one that works always has room. Within a broker, each client or consumer may hold as much as is left free
 * to all.
 */

import { ChurningMap } from '../memory/churning-map.ts';
import type { OwnerPath } from '../shares/owner-path.ts';

export interface InFlightLimits {
  readonly messages: number;
  readonly bytes: number;
}

/** For all brokers of a process. */
export const IN_FLIGHT_LIMITS: InFlightLimits = { messages: 20_000, bytes: 64 << 20 };

/** Cost of a message besides its payload, key and headers, in bytes. */
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

  /** Returns a new share for one broker. */
  share(): Share {
    return new Share(this);
  }

  /** For `Share`: returns the room left to it. */
  free(share: Share): InFlightLimits {
    const { messages, bytes } = this.#limits;
    return { messages: messages - this.#messages - share.messages, bytes: bytes - this.#bytes - share.bytes };
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

interface Held {
  messages: number;
  bytes: number;
}

export class Share {
  readonly #all: InFlight;
  readonly #owners = new ChurningMap<string, Held>();
  messages = 0;
  bytes = 0;

  constructor(all: InFlight) {
    this.#all = all;
  }

  /**
   * Takes room for a message of this size; returns the function that releases it, or null if there is no room. `owner`:
   * owner of the message; empty for messages of no particular owner, which have no share of their own.
   */
  take(size: number, owner: OwnerPath = []): (() => void) | null {
    const bytes = size + MESSAGE_BYTES;
    const key = owner.join(' ');
    if (owner.length > 0 && !this.#hasShare(this.#owners.get(key), bytes)) return null;
    if (!this.#all.take(this, bytes)) return null;
    this.#count(key, 1, bytes);
    return () => {
      this.#count(key, -1, -bytes);
      this.#all.give(bytes);
    };
  }

  #hasShare(held: Held | undefined, bytes: number): boolean {
    const free = this.#all.free(this);
    return (held?.messages ?? 0) + 1 <= free.messages && (held?.bytes ?? 0) + bytes <= free.bytes;
  }

  #count(key: string, messages: number, bytes: number): void {
    this.messages += messages;
    this.bytes += bytes;
    const held = this.#owners.get(key) ?? { messages: 0, bytes: 0 };
    held.messages += messages;
    held.bytes += bytes;
    if (held.messages === 0) this.#owners.delete(key);
    else this.#owners.set(key, held);
  }
}
