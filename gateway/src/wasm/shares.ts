/** Plugin instances held by waiting calls, by module and by client (docs/decisions.md#instances-do-not-wait). */
import { clientNetwork } from '../client-network.ts';
import type { Exchange } from '../exchange.ts';
import { Counts } from '../memory/churning-map.ts';
import { Chain, type Link } from '../shares/chain.ts';
import type { Call } from './call/call.ts';

/** A module: shares compare it by identity. */
type Module = object;

/** A call that waits with its instance. */
export interface HeldCall extends Link<HeldCall> {
  readonly call: Call;
  readonly module: Module;
  /** Its client's network. */
  readonly client: string;
}

export class Shares {
  readonly #limit: number;
  readonly #calls = new Chain<HeldCall>();
  readonly #modules = new Counts<Module>();
  readonly #clients = new Counts<string>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(held: HeldCall): void {
    this.#calls.append(held);
    this.#modules.add(held.module, 1);
    this.#clients.add(held.client, 1);
  }

  /** Only of one that was added, and once. */
  remove(held: HeldCall): void {
    this.#calls.unlink(held);
    this.#modules.add(held.module, -1);
    this.#clients.add(held.client, -1);
  }

  /**
   * Reports whether module and client hold less than their part of all, if all that hold some, or want one, have equal
   * parts.
   */
  isBelow(module: Module, exchange: Exchange): boolean {
    return this.#hasLess(this.#modules, module) && this.#hasLess(this.#clients, clientNetwork(exchange.clientIp));
  }

  /**
   * Returns the call that gives its instance up to `module` for `exchange`: the oldest of the module that is furthest above
   * its share, if `module` is below its own, or of such a client. Returns undefined if no call is above.
   */
  mostAbove(module: Module, exchange: Exchange): Call | undefined {
    const client = clientNetwork(exchange.clientIp);
    const modules = this.#share(this.#modules, module);
    const clients = this.#share(this.#clients, client);
    const moduleIsBelow = this.#hasLess(this.#modules, module);
    const clientIsBelow = this.#hasLess(this.#clients, client);
    let found: Call | undefined;
    let most = 1;
    for (let held = this.#calls.oldest; held !== null; held = held.newer) {
      const above = Math.max(
        moduleIsBelow ? (this.#modules.get(held.module) ?? 0) / modules : 0,
        clientIsBelow ? (this.#clients.get(held.client) ?? 0) / clients : 0,
      );
      if (above <= most) continue;
      most = above;
      found = held.call;
    }
    return found;
  }

  #hasLess<K>(held: Counts<K>, wanting: K): boolean {
    return (held.get(wanting) ?? 0) < this.#share(held, wanting);
  }

  /** Returns the share of each, if `wanting` is one of them. */
  #share<K>(held: Counts<K>, wanting: K): number {
    return Math.max(1, this.#limit / (held.size + (held.has(wanting) ? 0 : 1)));
  }
}
