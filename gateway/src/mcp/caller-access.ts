/**
 * Finds operations that refuse a caller because of its identity (docs/mcp.md#only-permitted). The middlewares decide:
 * those that authenticate, and then those that decide by the caller, run as for a call, without any arguments.
 */
import type { Operation } from '../artifact/format.ts';
import type { AccessRule } from '../artifact/tools.ts';
import type { Exchange } from '../exchange.ts';
import type { Admission } from '../headers/admission.ts';
import { CapturedResponse } from '../own-request/captured-response.ts';
import { ANSWERED, type BoundPlugin } from '../wasm/call/plugin.ts';
import { ownExchange } from './own-exchange.ts';

/** The parts of an operation that access checks need. */
export interface GuardedOperation {
  readonly operation: Operation;
  readonly admission: Admission;
  readonly middlewares: readonly { readonly plugin: BoundPlugin }[];
}

/** Identifies the caller: operations that share it know the caller by the same headers. */
interface Identification {
  readonly operation: Operation;
  readonly admission: Admission;
  readonly authenticators: readonly BoundPlugin[];
}

interface Check {
  readonly identification: Identification;
  readonly decider: BoundPlugin;
}

/** Sets the pipeline's knowledge from a request's head: admitted headers, address, identifiers. */
export type Admit = (exchange: Exchange, admission: Admission) => void;

/** Milliseconds for all checks of one list: undecided tools are left to the call, as for unknown callers. */
const PATIENCE_MS = 5_000;

/**
 * Checks of one artifact. Operations with the same middlewares share their checks, so that each runs once for a caller.
 */
export class AccessChecks {
  readonly #byOperation: ReadonlyMap<number, readonly Check[]>;

  readonly #patienceMs: number;

  constructor(
    rules: readonly AccessRule[],
    operations: ReadonlyMap<number, GuardedOperation>,
    patienceMs = PATIENCE_MS,
  ) {
    this.#patienceMs = patienceMs;
    const shared = new SharedChecks();
    this.#byOperation = new Map(
      rules.map(({ operation, middlewares }): [number, readonly Check[]] => {
        const guarded = operations.get(operation);
        return [operation, guarded === undefined ? [] : middlewares.map((place) => shared.of(guarded, place))];
      }),
    );
  }

  /**
   * Reports whether the sender of `outer` may call an operation, by its index, as far as the sender's identity decides.
   */
  async permittedTo(outer: Exchange, admit: Admit): Promise<(operation: number) => boolean> {
    const caller = new Caller(outer, admit, this.#patienceMs);
    const refused = new Set<number>();
    try {
      for (const [operation, checks] of this.#byOperation) {
        for (const check of checks) if (await caller.isRefused(check)) refused.add(operation);
      }
    } finally {
      caller.leaves();
    }
    return (operation) => !refused.has(operation);
  }
}

class SharedChecks {
  readonly #ids = new Map<object, number>();
  readonly #identifications = new Map<string, Identification>();
  readonly #checks = new Map<string, Check>();

  of({ operation, admission, middlewares }: GuardedOperation, place: number): Check {
    const decider = middlewares[place]?.plugin;
    if (decider === undefined) throw new Error(`${operation.method} ${operation.path} has no middleware ${place}`);
    const authenticators = middlewares
      .slice(0, place)
      .flatMap(({ plugin }) => (plugin.plugin.authenticates && plugin.hasRequestHook ? [plugin] : []));
    const key = [operation.method, ...[admission, ...authenticators].map((each) => this.#id(each))].join(' ');
    const identification = this.#identifications.get(key) ?? { operation, admission, authenticators };
    this.#identifications.set(key, identification);
    const checkKey = `${key}: ${this.#id(decider)}`;
    const check = this.#checks.get(checkKey) ?? { identification, decider };
    this.#checks.set(checkKey, check);
    return check;
  }

  #id(of: object): number {
    const id = this.#ids.get(of) ?? this.#ids.size;
    this.#ids.set(of, id);
    return id;
  }
}

/** One caller, for one MCP request. */
class Caller {
  readonly #outer: Exchange;
  readonly #admit: Admit;
  readonly #identified = new Map<Identification, Exchange | null>();
  readonly #refused = new Map<Check, boolean>();
  readonly #own = new Set<Exchange>();
  readonly #notClosing: () => void;
  readonly #patience: NodeJS.Timeout;
  #closed = false;

  constructor(outer: Exchange, admit: Admit, patienceMs: number) {
    this.#outer = outer;
    this.#admit = admit;
    this.#notClosing = outer.onClose(() => this.#close());
    this.#patience = setTimeout(() => this.#close(), patienceMs);
  }

  /** Resolves with false also for an unknown caller: the call finds out, and its answer says how to authenticate. */
  async isRefused(check: Check): Promise<boolean> {
    const known = this.#refused.get(check);
    if (known !== undefined) return known;
    const { identification, decider } = check;
    const exchange = await this.#identify(identification);
    const refused = exchange !== null && (await refuses(decider, exchange));
    this.#refused.set(check, refused);
    return refused;
  }

  /** The client has left: its requests are no longer awaited. */
  leaves(): void {
    clearTimeout(this.#patience);
    this.#notClosing();
    this.#close();
  }

  #close(): void {
    this.#closed = true;
    for (const exchange of this.#own) exchange.close();
  }

  /** Returns null if an authenticator does not let the caller pass, such as one without credentials. */
  async #identify(identification: Identification): Promise<Exchange | null> {
    const known = this.#identified.get(identification);
    if (known !== undefined) return known;
    const { operation, admission, authenticators } = identification;
    const { method, path: target } = operation;
    const response = new CapturedResponse({ most: 0, cutsOff: true });
    const exchange = ownExchange(this.#outer, { method, target, headers: [], cookies: [], body: null }, response);
    this.#admit(exchange, admission);
    this.#own.add(exchange);
    let identified = !this.#closed;
    for (const plugin of authenticators) {
      if (!identified) break;
      identified = (await plugin.onRequest(exchange)) !== ANSWERED;
    }
    const caller = identified ? exchange : null;
    this.#identified.set(identification, caller);
    return caller;
  }
}

async function refuses(decider: BoundPlugin, exchange: Exchange): Promise<boolean> {
  if (!decider.hasRequestHook || exchange.closed) return false;
  const verdict = await decider.onRequest(exchange);
  const { answer } = exchange;
  const { decision } = exchange.outcome;
  exchange.answer = null;
  exchange.decided(null);
  if (verdict !== ANSWERED || answer === null || decision !== 'answered') return false;
  return ('problem' in answer ? answer.problem.status : answer.status) !== 401;
}
