/** Streams for clients that want notifications when tools change (revision 2026-07-28, "Subscriptions"). */

import type { ResponseSink } from '../exchange.ts';
import { ItemsByOwner } from '../shares/items-by-owner.ts';
import type { RpcId } from './protocol/json-rpc.ts';

/** Streams of a process at once; past it the oldest of the client that has most ends. */
const MOST_STREAMS = 10_000;
/** Milliseconds between comments, which keep connections open through proxies. */
const QUIET_MS = 15_000;
const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';

interface Subscriber {
  /** The client's network. */
  readonly owner: string;
  readonly id: RpcId;
  readonly sink: ResponseSink;
  readonly toolsListChanged: boolean;
}

export interface Subscription extends Subscriber {
  /** Members of the `_meta` of its last message. */
  readonly ends: object;
}

export class Subscriptions {
  readonly #byOwner = new ItemsByOwner<Subscription>();
  readonly #all = new Set<Subscription>();
  readonly #most: number;
  #comments: NodeJS.Timeout | null = null;

  constructor(most = MOST_STREAMS) {
    this.#most = most;
  }

  get size(): number {
    return this.#all.size;
  }

  /** Sends the subscription's scope, and all later changes, until `end` or until the sink closes. */
  add(subscription: Subscription): void {
    if (this.#all.size >= this.#most) {
      const oldest = this.#byOwner.takeOldestOfBusiest();
      if (oldest) this.end(oldest);
    }
    const { id, toolsListChanged, sink } = subscription;
    this.#all.add(subscription);
    this.#byOwner.add(subscription);
    sink.on('error', () => {}).once('close', () => this.#drop(subscription));
    const notifications = toolsListChanged ? { toolsListChanged } : {};
    write(subscription, notification('notifications/subscriptions/acknowledged', id, { notifications }));
    this.#comments ??= setInterval(() => this.#comment(), QUIET_MS).unref();
  }

  /** The artifact that serves from now on has other tools. */
  toolsChanged(): void {
    for (const each of this.#all) {
      if (each.toolsListChanged) write(each, notification('notifications/tools/list_changed', each.id, {}));
    }
  }

  /** Ends a subscription on the gateway's side: the client is told that it has not failed. */
  end(subscription: Subscription): void {
    if (!this.#drop(subscription)) return;
    const { id, ends, sink } = subscription;
    const result = { resultType: 'complete', _meta: { [SUBSCRIPTION]: id, ...ends } };
    sink.end(eventOf({ jsonrpc: '2.0', id, result }));
  }

  #drop(subscription: Subscription): boolean {
    this.#byOwner.delete(subscription);
    const was = this.#all.delete(subscription);
    if (this.#all.size === 0 && this.#comments !== null) {
      clearInterval(this.#comments);
      this.#comments = null;
    }
    return was;
  }

  #comment(): void {
    for (const { sink } of this.#all) if (!sink.writableNeedDrain) sink.write(':\n\n');
  }
}

function notification(method: string, id: RpcId, params: object): object {
  return { jsonrpc: '2.0', method, params: { ...params, _meta: { [SUBSCRIPTION]: id } } };
}

/** Ends a subscriber that does not read instead of queueing: it lists anew when it comes back. */
function write({ sink }: Subscriber, message: object): void {
  if (sink.writableNeedDrain) sink.destroy();
  else sink.write(eventOf(message));
}

function eventOf(message: object): string {
  return `event: message\ndata: ${JSON.stringify(message)}\n\n`;
}
