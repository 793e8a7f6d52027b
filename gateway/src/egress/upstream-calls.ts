/**
 * Calls to upstreams that are under way for clients (`--max-upstream-calls`, docs/decisions.md#upstream-calls). Each
 * takes a connection and a file of its own, and a client of HTTP/2 asks for a hundred on one connection.
 */
import { Slots } from '../memory/slots.ts';
import { networkOf } from '../shares/owner.ts';
import { type Entry, ShareTree } from '../shares/share-tree.ts';
import type { LimitOutcome } from '../telemetry/metric-table.ts';

export interface UpstreamCall {
  readonly clientIp: string;
  /** Its slot in `UpstreamCalls`. */
  slot: number;
  /** Ends the call, so that another client gets its place. Its client is answered with 503 if it has no answer yet. */
  giveUp(error: UpstreamCallsCrowded): void;
}

/** The limit of calls is reached, and the client has its share. */
export class UpstreamCallsCrowded extends Error {
  constructor() {
    super('as many calls to upstreams are under way as --max-upstream-calls admits');
  }
}

/** From this part of the limit on, calls are counted by client. */
const WATCHED_FROM = 1 / 2;
const WATCHED_TO = 1 / 4;

export class UpstreamCalls {
  readonly #most: number;
  readonly #yielded: (outcome: LimitOutcome, clientIp: string) => void;
  readonly #open = new Slots<UpstreamCall>();
  /** Calls by client network; null while there is room for everybody, so that a call costs next to nothing. */
  #shares: ShareTree<UpstreamCall> | null = null;
  /** By slot. */
  #entries: (Entry<UpstreamCall> | null)[] = [];

  constructor(most: number, yielded: (outcome: LimitOutcome, clientIp: string) => void) {
    this.#most = most;
    this.#yielded = yielded;
  }

  /** How many are under way. */
  get size(): number {
    return this.#open.size;
  }

  /** Takes a place until `end`, if need be from the client that has most. Returns false if that is the same client. */
  begin(call: UpstreamCall): boolean {
    if (this.#open.size >= this.#most && !this.#makeRoom(call)) {
      this.#yielded('refused', call.clientIp);
      return false;
    }
    call.slot = this.#open.add(call);
    if (this.#shares !== null) this.#share(this.#shares, call);
    else if (this.#open.size >= this.#most * WATCHED_FROM) this.#watch();
    return true;
  }

  /** Releases the place. Ignores a call without one. */
  end(call: UpstreamCall): void {
    const { slot } = call;
    if (!this.#open.remove(slot, call) || this.#shares === null) return;
    const entry = this.#entries[slot] ?? null;
    this.#entries[slot] = null;
    if (entry !== null) this.#shares.remove(entry);
    if (this.#open.size <= this.#most * WATCHED_TO) {
      this.#shares = null;
      this.#entries = [];
    }
  }

  #watch(): void {
    const shares = new ShareTree<UpstreamCall>();
    for (const each of this.#open) this.#share(shares, each);
    this.#shares = shares;
  }

  #share(shares: ShareTree<UpstreamCall>, call: UpstreamCall): void {
    this.#entries[call.slot] = shares.add(networkOf(call), call);
  }

  #makeRoom(call: UpstreamCall): boolean {
    const yielding = this.#shares?.yielding(networkOf(call)) ?? null;
    if (yielding === null) return false;
    const { value } = yielding;
    this.end(value);
    this.#yielded('ended', value.clientIp);
    value.giveUp(new UpstreamCallsCrowded());
    return true;
  }
}
