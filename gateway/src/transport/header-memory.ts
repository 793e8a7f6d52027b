/**
 * Decoded header bytes that open requests hold (`--max-held-header-bytes`, docs/decisions.md#shared-limits). HTTP/2
 * clients make a thousand bytes of one, so the bytes on the wire do not measure a request's cost.
 */

import type { Exchange, HeaderList } from '../exchange.ts';
import type { ClientAddress } from '../headers/client-ip.ts';
import { BufferBudget, type Evictable, type Holding } from '../memory/buffer-budget.ts';
import type { LimitOutcome } from '../telemetry/metric-table.ts';
import { noHeaderRoom, type Refusal } from './refuse.ts';

/** The response to a request, as far as the request may have to end for others. */
export interface HeaderHolder {
  readonly headSent: boolean;
  /** Answers the request, unless an answer has begun. */
  refuse(refusal: Refusal): void;
  abort(): void;
}

/** Counts the bytes of a head that arrives. */
export interface ArrivingHead {
  /** Returns false if there is no room for so many more. */
  take(bytes: number): boolean;
  release(): void;
}

export interface HeaderMemoryDeps {
  /** Bytes. */
  readonly most: number;
  readonly client: ClientAddress;
  yielded(outcome: LimitOutcome, owner: string): void;
}

export class HeaderMemory {
  readonly #budget: BufferBudget;
  readonly #client: ClientAddress;
  readonly #yielded: HeaderMemoryDeps['yielded'];

  constructor({ most, client, yielded }: HeaderMemoryDeps) {
    this.#budget = new BufferBudget(most);
    this.#client = client;
    this.#yielded = yielded;
  }

  /** Bytes that are held. */
  get used(): number {
    return this.#budget.used;
  }

  /** Reports whether streams of this peer count for the clients behind it, and not for the connection. */
  trusts(peer: string): boolean {
    return this.#client.trusts(peer);
  }

  /** Holds the headers of a request until it is released; returns null if there is no room, which is counted. */
  hold(exchange: Exchange, bytes: number, holder: HeaderHolder): Holding | null {
    const owner = this.#ownerOf(exchange.peer, exchange.rawHeaders);
    const holding = this.#budget.hold(owner);
    if (!holding.take(bytes)) {
      holding.release();
      this.#yielded('refused', owner);
      return null;
    }
    holding.evictable = new HeldHeaders(exchange, bytes, holder, (outcome) => this.#yielded(outcome, owner));
    return holding;
  }

  /** Counts a head that has not come whole; `cutOff` ends its connection. */
  arriving(peer: string, cutOff: () => void): ArrivingHead {
    const holding = this.#budget.hold(peer);
    let held = 0;
    holding.evictable = {
      // As among whole ones, the largest ends first.
      rate: () => -held,
      evict: () => {
        this.#yielded('ended', peer);
        holding.release();
        cutOff();
      },
    };
    return {
      take: (bytes) => {
        held += bytes;
        if (holding.take(bytes)) return true;
        this.#yielded('refused', peer);
        return false;
      },
      release: () => holding.release(),
    };
  }

  #ownerOf(peer: string, raw: HeaderList): string {
    return this.#client.trusts(peer) ? clientOfRaw(this.#client, peer, raw) : peer;
  }
}

class HeldHeaders implements Evictable {
  readonly #exchange: Exchange;
  readonly #bytes: number;
  readonly #holder: HeaderHolder;
  readonly #yielded: (outcome: LimitOutcome) => void;

  constructor(exchange: Exchange, bytes: number, holder: HeaderHolder, yielded: (outcome: LimitOutcome) => void) {
    this.#exchange = exchange;
    this.#bytes = bytes;
    this.#holder = holder;
    this.#yielded = yielded;
  }

  /** The largest ends first. */
  rate(): number {
    return -this.#bytes;
  }

  evict(): void {
    const exchange = this.#exchange;
    this.#yielded('ended');
    const holder = this.#holder;
    if (exchange.closed || holder.headSent) holder.abort();
    else {
      const refusal = noHeaderRoom(exchange);
      exchange.close(refusal.status);
      holder.refuse(refusal);
    }
    // The client may read the answer late, or never.
    exchange.forgetHeaders();
  }
}

const FORWARDED = new Set(['x-forwarded-for', 'x-real-ip']);

/** The client behind a trusted proxy, by headers as they arrived. */
function clientOfRaw(client: ClientAddress, peer: string, raw: HeaderList): string {
  const forwarded: string[] = [];
  for (let i = 0; i < raw.length; i += 2) {
    const name = (raw[i] as string).toLowerCase();
    if (FORWARDED.has(name)) forwarded.push(name, raw[i + 1] as string);
  }
  return client.of(peer, forwarded);
}
