/** Instances by module, filled on demand, and the cap that all modules of the process share. */
import type { Exchange } from '../exchange.ts';
import { Interrupted } from '../exchange.ts';
import type { Binding } from './call.ts';
import { type Home, Instance, type ModuleCode } from './instance.ts';
import type { Snapshot } from './snapshot.ts';

/** No instance became free in time, or too many calls wait for one already. */
export class Overloaded extends Error {}

/** How long a call waits for an instance, in milliseconds. */
const WAIT_MS = 10_000;

interface Waiter {
  readonly pool: ModulePool;
  readonly snapshot: Snapshot;
  resolve(instance: Instance): void;
  reject(error: unknown): void;
  done: boolean;
}

export class InstanceCap {
  readonly #limit: number;
  readonly #queueLimit: number;
  readonly #pools = new Set<ModulePool>();
  #live = 0;
  #waiters: Waiter[] = [];
  #waiting = 0;

  constructor(limit: number, queueLimit: number) {
    this.#limit = limit;
    this.#queueLimit = queueLimit;
  }

  /** Instances that exist, idle ones too. */
  get live(): number {
    return this.#live;
  }

  add(pool: ModulePool): void {
    this.#pools.add(pool);
  }

  remove(pool: ModulePool): void {
    this.#pools.delete(pool);
  }

  /** Drops instances that nothing has needed for a while. */
  trim(): void {
    for (const pool of this.#pools) pool.trim();
  }

  close(): void {
    for (const pool of [...this.#pools]) pool.close();
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
  wait(pool: ModulePool, snapshot: Snapshot, x: Exchange): Promise<Instance> {
    if (this.#waiting >= this.#queueLimit) {
      return Promise.reject(new Overloaded(`${this.#waiting} calls wait for a plugin instance`));
    }
    return new Promise((resolve, reject) => {
      const settle = (then: () => void) => {
        if (waiter.done) return;
        waiter.done = true;
        this.#waiting--;
        clearTimeout(timer);
        withdraw();
        then();
      };
      const waiter: Waiter = {
        pool,
        snapshot,
        resolve: (instance) => settle(() => resolve(instance)),
        reject: (error) => settle(() => reject(error)),
        done: false,
      };
      const timer = setTimeout(
        () => settle(() => reject(new Overloaded(`no plugin instance became free in ${WAIT_MS} ms`))),
        WAIT_MS,
      );
      this.#waiting++;
      this.#waiters.push(waiter);
      let withdraw = () => {};
      withdraw = x.onClose(() => settle(() => reject(new Interrupted('the client has gone'))));
    });
  }

  /** Gives what has become free to those who wait, in their order. */
  serve(): void {
    while (this.#waiters.length > 0) {
      const waiter = this.#waiters[0];
      if (waiter && !waiter.done) {
        try {
          const instance = waiter.pool.take(waiter.snapshot);
          if (instance === undefined) return;
          waiter.resolve(instance);
        } catch (error) {
          waiter.reject(error);
        }
      }
      this.#waiters.shift();
    }
  }
}

export class ModulePool implements Home {
  readonly #code: ModuleCode;
  readonly #binding: Binding;
  readonly #cap: InstanceCap;
  #idle: Instance[] = [];
  /** Fewest idle ones since the last trim. */
  #unused = 0;
  #open = false;
  /** Hooks are called directly, until one takes longer than a slice of CPU time: then each gets an instance that can be suspended. */
  #direct: boolean;

  /** `direct`: the module imports nothing that waits. */
  constructor(code: ModuleCode, binding: Binding, cap: InstanceCap, direct: boolean) {
    this.#direct = direct;
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

  /** The instance used last, which is in the processor's caches, or a new one; undefined at the cap. */
  take(snapshot: Snapshot | null, direct = this.#direct): Instance | undefined {
    for (let instance = this.#idle.pop(); instance !== undefined; instance = this.#idle.pop()) {
      if (this.#idle.length < this.#unused) this.#unused = this.#idle.length;
      // Memory cannot shrink: one that an `init` of another config grew is of no use here.
      if (instance.direct === direct && (snapshot === null || instance.size <= snapshot.size)) return instance;
      this.#cap.freed();
    }
    if (!this.#cap.reserve()) return undefined;
    try {
      return new Instance(this.#code, this.#binding, this, direct);
    } catch (error) {
      this.#cap.freed();
      throw error;
    }
  }

  /** The same, waiting where the cap is reached. Rejects with Overloaded or Interrupted. */
  async takeLater(snapshot: Snapshot, x: Exchange): Promise<Instance> {
    return this.take(snapshot) ?? this.#cap.wait(this, snapshot, x);
  }

  release(instance: Instance): void {
    if (instance.direct && instance.overran) this.#direct = false;
    if (!this.#open) return this.drop(instance);
    this.#idle.push(instance);
    this.#cap.serve();
  }

  drop({ size }: Instance): void {
    // V8 does not count WebAssembly memories when it decides to collect, and would let gigabytes of dead ones pile
    // up. Buffers it does count, and as nothing writes to this one it costs no memory itself.
    new ArrayBuffer(size);
    this.#cap.freed();
    this.#cap.serve();
  }

  /** Drops the instance that has been idle longest; false where there is none. */
  evict(): boolean {
    if (this.#idle.shift() === undefined) return false;
    this.#cap.freed();
    return true;
  }

  /** Drops half of the instances that nothing has needed since the last time, and keeps one. */
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
