/** One call into a plugin, as host functions see it. An instance has one, reused from call to call. */

import { type Exchange, Interrupted, type PendingResponse, type StagedHeader } from '../../exchange.ts';
import type { Upstream } from '../../hand-off.ts';
import type { Hook } from '../binary/module-shapes.ts';
import type { ConfigView } from './config-view.ts';
import { CpuClock } from './cpu.ts';
import { Overloaded, WaitExceeded } from './failures.ts';
import { GuestMemory } from './guest-memory.ts';
import { HostCallError } from './host-call-error.ts';
import type { BoundPlugin, CallServices, ProblemForm } from './plugin.ts';

/** A plugin and its config, for host functions; the same for every call. */
export interface Binding {
  readonly name: string;
  readonly authenticates: boolean;
  readonly config: ConfigView;
  /** Upstreams by the JSON pointer of the property that names them. */
  readonly upstreams: ReadonlyMap<string, Upstream>;
  readonly services: CallServices;
  /** State of capabilities for the config, in the order of their list. */
  readonly bound: readonly unknown[];
  /** Owner of the state that the plugin keeps for a request; absent while `init` runs. */
  readonly owner: BoundPlugin | null;
  /** CPU milliseconds a call. */
  readonly cpuMs: number;
}

/**
 * Bodies that a config needs before `on_request`: none at all, those of JSON types, all, or those that the function
 * selects.
 */
export type BodyNeed = 'none' | 'json' | 'any' | ((exchange: Exchange) => boolean);

/** Counts the instances that wait in a call. */
export interface Holder {
  /** Counts a call from now on. It may end the call's wait at once. */
  hold(call: Call, exchange: Exchange): Hold;
}

export interface Hold {
  /** The wait is over. Does nothing the second time. */
  release(): void;
}

const NO_BYTES = Buffer.alloc(0);
/** Work below this length is included in the charge of every host call. */
const FREE_LENGTH = 256;
/** Units of work, some microseconds, that are charged together. */
const MOST_OWED = 4_096;

/** Stands in until the instance has its own. */
const NO_MEMORY = new GuestMemory(new WebAssembly.Memory({ initial: 0 }), () => {}, 0);
const NO_FUEL = new WebAssembly.Global({ value: 'i32', mutable: true }, 0);

export class Call {
  memory = NO_MEMORY;
  readonly clock = new CpuClock();
  #fuel = NO_FUEL;
  /** Units of host work that the fuel still lacks: reaching it takes longer than little work does. */
  #owed = 0;
  binding: Binding;
  hook: Hook = 'init';
  exchange: Exchange | null = null;
  /** `respond` or `respond_problem` was called. */
  responded = false;
  /** `host_http_stream` was called, or another function that hands the request off. */
  handedOff = false;
  /** Why `init` refused the config. */
  refusal: string | null = null;
  /** In `init`: with this config, the declared body of responses is not needed. */
  passesResponse = false;
  /** In `init`: the part of the body that the host reads before `on_request`, so that no instance waits for it. */
  bodyNeed: BodyNeed = 'none';
  /** In `init` of a dispatcher: the form in which clients of its operations read problems; null: as they are. */
  problemForm: ProblemForm | null = null;
  /** In chunk hooks: the chunk that passes. */
  chunk: Uint8Array = NO_BYTES;
  /** In chunk hooks: its replacement. */
  written: Uint8Array[] | null = null;
  writtenBytes = 0;
  /** In `on_response`: changes made, for a replacement response. */
  changes: StagedHeader[] | null = null;
  /** Calls of this instance can be suspended. */
  readonly suspends: boolean;
  readonly #holder: Holder;
  /** State of capabilities. */
  #states: readonly { end(): void }[] = [];
  #giveUp: ((error: Error) => void) | null = null;

  constructor(binding: Binding, suspends: boolean, holder: Holder) {
    this.suspends = suspends;
    this.#holder = holder;
    this.binding = binding;
  }

  /** Imports are made before the instance, and the memory comes with it. */
  attach(
    memory: WebAssembly.Memory,
    fuel: WebAssembly.Global,
    states: readonly { end(): void }[],
    blockBits: number,
    table: Buffer | null,
  ): void {
    this.memory = new GuestMemory(memory, (length) => this.charge(length), blockBits, table);
    this.#fuel = fuel;
    this.#states = states;
  }

  begin(binding: Binding, hook: Hook, exchange: Exchange | null): void {
    this.binding = binding;
    this.hook = hook;
    this.exchange = exchange;
    this.responded = false;
    this.handedOff = false;
    this.refusal = null;
    this.passesResponse = false;
    this.bodyNeed = 'none';
    this.problemForm = null;
    this.chunk = NO_BYTES;
    this.written = null;
    this.writtenBytes = 0;
    this.changes = null;
    this.#owed = 0;
  }

  /** Drops the request, so that an idle instance holds nothing of it. */
  end(): void {
    this.exchange = null;
    this.chunk = NO_BYTES;
    this.written = null;
    this.changes = null;
    for (const state of this.#states) state.end();
  }

  /** Returns the request; throws in `init`, which has no request. */
  request(): Exchange {
    if (this.exchange === null) throw new HostCallError('there is no request in init');
    return this.exchange;
  }

  /** Returns the response that is about to be sent; throws outside `on_response`. */
  response(): PendingResponse {
    return this.answeredRequest().response;
  }

  /** Returns the request whose response is about to be sent; throws outside `on_response`. */
  answeredRequest(): Exchange {
    if (this.hook !== 'on_response' || this.exchange === null) {
      throw new HostCallError(`there is no response in ${this.hook}: read it in on_response`);
    }
    return this.exchange;
  }

  /** Charges for host work by length in bytes. */
  charge(length: number): void {
    if (length >>> 0 > FREE_LENGTH) this.burn(length >>> 1);
  }

  /** Charges for host work by length in bytes that was done while the call waited. */
  chargeAfterWait(length: number): void {
    this.clock.worked(length >>> 1);
    this.#take(length >>> 1);
  }

  /** Charges for host work. */
  burn(units: number): void {
    this.clock.work(units);
    this.#take(units);
  }

  /** Counts bytes that the request holds until it ends. Throws Overloaded if memory for them is lacking. */
  holdMore(bytes: number): void {
    if (bytes <= FREE_LENGTH || this.request().holdMore(bytes)) return;
    throw new Overloaded('no memory is left for what it keeps for the request');
  }

  #take(units: number): void {
    this.#owed += units;
    if (this.#owed >= 0 && this.#owed < MOST_OWED) return;
    const fuel = Number(this.#fuel.value) - this.#owed;
    this.#owed = 0;
    this.#fuel.value = Math.max(fuel, -(2 ** 30));
  }

  /** Throws if the result is no longer wanted. */
  readonly check = (): void => {
    if (this.exchange?.closed) throw new Interrupted('the client has gone');
  };

  /** The fuel is gone: more of it, or 0 if the call is to wait for it. */
  readonly refuel = (): number => this.clock.refuel(this.check, this.suspends);

  readonly nextTurn = (): Promise<number> => this.clock.wait(this.check);

  /** Bytes of memory of its instance. */
  get heldBytes(): number {
    return this.memory.bytes.length;
  }

  /** Ends its wait, so that others get its instance. */
  yieldTo(why: string): void {
    this.#giveUp?.(new Overloaded(why));
  }

  /** Suspends the plugin until `promise` settles, the client leaves, or `deadlineMs` have passed. */
  wait<T>(promise: Promise<T>, deadlineMs: number, result: (value: T) => number): Promise<number> {
    const { clock, exchange } = this;
    clock.pause();
    return new Promise((resolve, reject) => {
      let waiting = true;
      let held: Hold | null = null;
      const finish = (settle: () => void) => {
        if (!waiting) return;
        waiting = false;
        clearTimeout(timer);
        withdraw();
        held?.release();
        this.#giveUp = null;
        clock.resume();
        settle();
      };
      this.#giveUp = (error) => finish(() => reject(error));
      const timer = setTimeout(
        () => finish(() => reject(new WaitExceeded(`waited for the host longer than ${deadlineMs} ms`))),
        deadlineMs,
      );
      let withdraw = () => {};
      if (exchange) {
        held = this.#holder.hold(this, exchange);
        // It had to yield at once.
        if (!waiting) held.release();
      }
      promise.then(
        (value) =>
          finish(() => {
            try {
              resolve(result(value));
            } catch (error) {
              reject(error);
            }
          }),
        (error) => finish(() => reject(error)),
      );
      if (exchange) {
        withdraw = exchange.onClose(() => finish(() => reject(new Interrupted('the client has gone'))));
      }
    });
  }
}
