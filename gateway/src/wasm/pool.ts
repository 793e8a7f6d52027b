/** Instances by module, filled on demand, and the cap that all modules of the process share. */
import { clientNetwork } from '../client-network.ts';
import type { Exchange } from '../exchange.ts';
import { Interrupted } from '../exchange.ts';
import { networkOf } from '../shares/owner.ts';
import { type Entry, ShareTree } from '../shares/share-tree.ts';
import type { PluginFigures } from '../telemetry/figures.ts';
import type { Binding, Call, Hold } from './call/call.ts';
import { Overloaded } from './call/failures.ts';
import { account, isBusy, nextTurn, SLICE_MS } from './call/turns.ts';
import { Instance, type InstanceOwner, type ModuleCode } from './instance.ts';
import { type HeldCall, Shares } from './shares.ts';
import type { Snapshot } from './snapshot.ts';

/** Milliseconds that a call waits for an instance. */
const WAIT_MS = 10_000;
/** Part of the instances for calls of clients and modules below their share. */
const RESERVE = 1 / 10;
/** Calls after which a module that has never used up a slice of CPU time is called directly. */
const QUICK_CALLS = 100;

interface Waiter {
  readonly pool: ModulePool;
  readonly snapshot: Snapshot;
  readonly exchange: Exchange;
  /** Another call gives up its instance for it. */
  readonly granted: boolean;
  resolve(instance: Instance): void;
  reject(error: unknown): void;
  done: boolean;
}

/** An instance whose call waits. */
class HeldInstance implements Hold, HeldCall {
  readonly call: Call;
  readonly module: ModulePool;
  readonly client: string;
  readonly #cap: InstanceCap;
  /** Null once its memory does not count, or no longer. */
  memory: Entry<HeldInstance> | null = null;
  older: HeldCall | null = null;
  newer: HeldCall | null = null;
  #released = false;

  constructor(cap: InstanceCap, module: ModulePool, call: Call, client: string) {
    this.#cap = cap;
    this.module = module;
    this.call = call;
    this.client = client;
  }

  release(): void {
    if (this.#released) return;
    this.#released = true;
    this.#cap.letGo(this);
  }
}

/**
 * Limits instances. Those that a call holds while it waits for a client, an upstream or a store count for its module
 * and for its client, and each has a share (docs/decisions.md#instances-do-not-wait). It binds under contention only: a
 * tenth of the instances is for those below their share, and when all are in use, one above its share gives one up.
 * Calls that do not wait are not counted, and pay nothing.
 */
export class InstanceCap {
  readonly #limit: number;
  readonly #reserve: number;
  readonly #queueLimit: number;
  readonly #pools = new Set<ModulePool>();
  readonly #shares: Shares;
  readonly #memoryLimit: number;
  /** Memory of the instances that calls hold while they wait, by module and client. */
  readonly #memory = new ShareTree<HeldInstance>();
  #live = 0;
  #inUse = 0;
  /** Calls below their share, or with an instance that another gives up for them; and all others. */
  readonly #queues: readonly [Waiter[], Waiter[]] = [[], []];
  /** Waiting calls, by module and client: past the limit the newest of the owner with most is refused. */
  readonly #waiting = new ShareTree<Waiter>();

  /** `memoryLimit`: bytes of all instances with waiting calls. */
  constructor(limit: number, queueLimit: number, memoryLimit: number) {
    this.#memoryLimit = memoryLimit;
    this.#limit = limit;
    this.#reserve = Math.floor(limit * RESERVE);
    this.#queueLimit = queueLimit;
    this.#shares = new Shares(limit);
  }

  /** Instances that exist, idle ones too. */
  get live(): number {
    return this.#live;
  }

  get figures(): PluginFigures {
    return { instances: this.#live, busy: this.#inUse, waiting: this.#waiting.weight };
  }

  add(pool: ModulePool): void {
    this.#pools.add(pool);
  }

  remove(pool: ModulePool): void {
    this.#pools.delete(pool);
  }

  /** Drops instances that have not been needed for a while. */
  trim(): void {
    for (const pool of this.#pools) pool.trim();
  }

  close(): void {
    for (const pool of [...this.#pools]) pool.close();
  }

  /** Reports whether a call may take an instance now; `exchange` is null if it is for no request. */
  admits(pool: ModulePool, exchange: Exchange | null): boolean {
    const free = this.#limit - this.#inUse;
    return free > this.#reserve || (free > 0 && (exchange === null || this.#shares.isBelow(pool, exchange)));
  }

  taken(): void {
    this.#inUse++;
  }

  returned(): void {
    this.#inUse--;
  }

  hold(pool: ModulePool, call: Call, exchange: Exchange): Hold {
    const held = new HeldInstance(this, pool, call, clientNetwork(exchange.clientIp));
    this.#shares.add(held);
    const path = [pool.name, ...networkOf(exchange)];
    held.memory = this.#memory.add(path, held, call.heldBytes);
    while (this.#memory.weight > this.#memoryLimit) {
      const heaviest = this.#memory.yielding(path, 0) ?? this.#memory.oldestOf(path);
      if (heaviest === null) break;
      this.#letGoOfMemory(heaviest.value);
      heaviest.value.call.yieldTo('others are below their share of the memory of plugins that wait');
    }
    return held;
  }

  /** For `HeldInstance`. */
  letGo(held: HeldInstance): void {
    this.#shares.remove(held);
    this.#letGoOfMemory(held);
  }

  #letGoOfMemory(held: HeldInstance): void {
    if (held.memory !== null) this.#memory.remove(held.memory);
    held.memory = null;
  }

  /** Makes room for one more instance, if need be by dropping an idle one of another module. */
  reserve(): boolean {
    if (this.#live >= this.#limit) {
      for (const pool of this.#pools) if (pool.evict()) break;
    }
    if (this.#live >= this.#limit) return false;
    this.#live++;
    return true;
  }

  /** An instance is gone. */
  freed(): void {
    this.#live--;
  }

  /** Waits for an instance: as long as the client does, and WAIT_MS at most. */
  wait(pool: ModulePool, snapshot: Snapshot, exchange: Exchange): Promise<Instance> {
    const above = this.#shares.mostAbove(pool, exchange);
    const path = [pool.name, ...networkOf(exchange)];
    // A call that gets another one's instance takes no place in the queue.
    if (above === undefined && this.#waiting.weight >= this.#queueLimit) {
      const other = this.#waiting.yielding(path);
      const crowded = new Overloaded(`${this.#waiting.weight} calls wait for a plugin instance`);
      if (other === null) return Promise.reject(crowded);
      (other.owner.entries.newest ?? other).value.reject(crowded);
    }
    const first = above !== undefined || this.#shares.isBelow(pool, exchange);
    return new Promise((resolve, reject) => {
      const settle = (then: () => void) => {
        if (waiter.done) return;
        waiter.done = true;
        this.#waiting.remove(entry);
        clearTimeout(timer);
        withdraw();
        then();
      };
      const waiter: Waiter = {
        pool,
        snapshot,
        exchange,
        granted: above !== undefined,
        resolve: (instance) => settle(() => resolve(instance)),
        reject: (error) => settle(() => reject(error)),
        done: false,
      };
      const timer = setTimeout(
        () => settle(() => reject(new Overloaded(`no plugin instance became free in ${WAIT_MS} ms`))),
        WAIT_MS,
      );
      const entry = this.#waiting.add(path, waiter);
      this.#queues[first ? 0 : 1].push(waiter);
      let withdraw = () => {};
      withdraw = exchange.onClose(() => settle(() => reject(new Interrupted('the client has gone'))));
      above?.yieldTo('others are below their share of the plugin instances');
    });
  }

  /** Gives free instances to waiting calls, in their order. */
  serve(): void {
    const [first, others] = this.#queues;
    if (first.length === 0 && others.length === 0) return;
    for (const queue of this.#queues) {
      for (let waiter = queue[0]; waiter !== undefined; waiter = queue[0]) {
        if (!waiter.done) {
          if (this.#inUse >= this.#limit) return;
          const { pool, snapshot, exchange, granted } = waiter;
          try {
            const instance = pool.take(snapshot, granted ? null : exchange);
            if (instance !== undefined) waiter.resolve(instance);
            else if (queue === others) return;
            // No longer below its share.
            else others.push(waiter);
          } catch (error) {
            waiter.reject(error);
          }
        }
        queue.shift();
      }
      if (queue === first && others.length === 0) return;
    }
  }
}

let pools = 0;

export class ModulePool implements InstanceOwner {
  /** Tells it from all others. */
  readonly name = String(pools++);
  readonly #code: ModuleCode;
  readonly #binding: Binding;
  readonly #cap: InstanceCap;
  #idle: Instance[] = [];
  /** Fewest idle ones since the last trim. */
  #unused = 0;
  #open = false;
  #mayBeDirect: boolean;
  /** Calls until hooks are called directly; as soon as one uses up a slice, each can be suspended, permanently. */
  #untilDirect = QUICK_CALLS;
  /** The last call took about a slice, or more. */
  #long = false;

  /** `direct`: the module has no import that waits. */
  constructor(code: ModuleCode, binding: Binding, cap: InstanceCap, direct: boolean) {
    this.#mayBeDirect = direct;
    this.#code = code;
    this.#binding = binding;
    this.#cap = cap;
  }

  /** Keeps instances from now on, until `close`. */
  open(): void {
    this.#open = true;
    this.#cap.add(this);
  }

  get idle(): number {
    return this.#idle.length;
  }

  get #direct(): boolean {
    return this.#mayBeDirect && this.#untilDirect <= 0;
  }

  /** A call has to wait for its turn, since it may take long and others have used up this one. */
  get mustWait(): boolean {
    return (this.#long || this.#idle.length === 0) && isBusy();
  }

  /** The instance used last, which is in the processor's caches, or a new one; undefined at the cap. */
  take(snapshot: Snapshot | null, exchange: Exchange | null, direct = this.#direct): Instance | undefined {
    if (!this.#cap.admits(this, exchange)) return undefined;
    const instance = this.#idleOne(snapshot, direct) ?? this.#newOne(direct);
    if (instance !== undefined) this.#cap.taken();
    return instance;
  }

  #idleOne(snapshot: Snapshot | null, direct: boolean): Instance | undefined {
    for (let instance = this.#idle.pop(); instance !== undefined; instance = this.#idle.pop()) {
      if (this.#idle.length < this.#unused) this.#unused = this.#idle.length;
      // Memory cannot shrink: one that an `init` of another config grew is of no use here.
      if (instance.direct === direct && (snapshot === null || instance.size <= snapshot.size)) return instance;
      this.#cap.freed();
    }
    return undefined;
  }

  #newOne(direct: boolean): Instance | undefined {
    if (!this.#cap.reserve()) return undefined;
    try {
      const started = performance.now();
      const instance = new Instance(this.#code, this.#binding, this, direct);
      account(performance.now() - started);
      return instance;
    } catch (error) {
      this.#cap.freed();
      throw error;
    }
  }

  /** Takes an instance in turn, also if the cap is reached. Rejects with Overloaded or Interrupted. */
  async takeLater(snapshot: Snapshot, exchange: Exchange): Promise<Instance> {
    if (this.mustWait) await nextTurn();
    return this.take(snapshot, exchange) ?? this.#cap.wait(this, snapshot, exchange);
  }

  release(instance: Instance): void {
    if (!this.#open) return this.drop(instance);
    this.#note(instance);
    this.#idle.push(instance);
    this.#cap.returned();
    this.#cap.serve();
  }

  hold(call: Call, exchange: Exchange): Hold {
    return this.#cap.hold(this, call, exchange);
  }

  drop(instance: Instance): void {
    this.#note(instance);
    // V8 ignores WebAssembly memories when it decides to collect, and would let gigabytes of dead ones pile up. It
    // counts buffers, and this one costs no memory itself, since it is never written to.
    new ArrayBuffer(instance.size);
    this.#cap.returned();
    this.#cap.freed();
    this.#cap.serve();
  }

  /** Notes the time of a call, which decides how the next one may run. */
  #note({ call, cpuMs, usedUpSlice }: Instance): void {
    if (call.hook === 'init') return;
    this.#long = cpuMs >= SLICE_MS / 2;
    if (usedUpSlice) this.#mayBeDirect = false;
    else if (this.#untilDirect > 0) this.#untilDirect--;
  }

  /** Drops the instance that has been idle longest; returns false if all are busy. */
  evict(): boolean {
    if (this.#idle.shift() === undefined) return false;
    this.#cap.freed();
    return true;
  }

  /** Drops half of the instances that have not been needed since the last time, and keeps one. */
  trim(): void {
    for (let count = Math.ceil(this.#unused / 2); count > 0 && this.#idle.length > 1; count--) this.evict();
    this.#unused = this.#idle.length;
  }

  /** Drops the idle instances now, and those in use when they come back. */
  close(): void {
    this.#open = false;
    while (this.evict());
    this.#cap.remove(this);
    this.#cap.serve();
  }
}
