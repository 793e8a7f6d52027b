/** Plugin instances held by waiting calls, by module and by client (docs/decisions.md#instances-do-not-wait). */
import { clientNetwork } from '../client-network.ts';
import type { Exchange } from '../exchange.ts';
import type { Call } from './call/call.ts';

/** A module: shares compare it by identity. */
type Module = object;

export class Shares {
  readonly #limit: number;
  /** Oldest first. */
  readonly #calls = new Map<Call, { readonly module: Module; readonly client: string }>();
  readonly #modules = new Map<Module, number>();
  readonly #clients = new Map<string, number>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(module: Module, call: Call, exchange: Exchange): void {
    const client = clientNetwork(exchange.clientIp);
    this.#calls.set(call, { module, client });
    count(this.#modules, module, 1);
    count(this.#clients, client, 1);
  }

  remove(call: Call): void {
    const held = this.#calls.get(call);
    if (held === undefined) return;
    this.#calls.delete(call);
    count(this.#modules, held.module, -1);
    count(this.#clients, held.client, -1);
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
    for (const [call, held] of this.#calls) {
      const above = Math.max(
        moduleIsBelow ? (this.#modules.get(held.module) ?? 0) / modules : 0,
        clientIsBelow ? (this.#clients.get(held.client) ?? 0) / clients : 0,
      );
      if (above <= most) continue;
      most = above;
      found = call;
    }
    return found;
  }

  #hasLess<K>(held: ReadonlyMap<K, number>, wanting: K): boolean {
    return (held.get(wanting) ?? 0) < this.#share(held, wanting);
  }

  /** Returns the share of each, if `wanting` is one of them. */
  #share<K>(held: ReadonlyMap<K, number>, wanting: K): number {
    return Math.max(1, this.#limit / (held.size + (held.has(wanting) ? 0 : 1)));
  }
}

function count<K>(held: Map<K, number>, key: K, by: 1 | -1): void {
  const now = (held.get(key) ?? 0) + by;
  if (now === 0) held.delete(key);
  else held.set(key, now);
}
