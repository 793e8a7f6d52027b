/**
 * Helper processes for validation that may take long (docs/decisions.md#validation-in-helpers): a costly body of an
 * untrusted client takes time from a process that can be ended, and never more than a few milliseconds from the event
 * loop. Clients take turns; half of the helpers serve only requests that have passed authentication.
 */
import { BoundedMap } from '../../bounded-map.ts';
import { clientNetwork } from '../../client-network.ts';
import type { ProblemError } from '../../problems.ts';
import { ItemsByOwner } from '../../shares/items-by-owner.ts';
import type { HelperOutcome } from '../../telemetry/metric-table.ts';
import { HelperProcess, type Loss, type Outcome } from './helper-process.ts';
import type { Fault, SchemaTable, Work } from './messages.ts';

/** Validations that wait; the newest of the client that has most is refused when there are more. */
const MOST_WAITING = 64;
/** Milliseconds between looks at how long helpers have taken. */
const LOOK_MS = 20;
/** Milliseconds after which idle helpers end. */
const IDLE_MS = 60_000;
/** CPU milliseconds in which the schemas of most work are compiled; slower ones go to a lane of their own. */
const PREPARE_MS = 1_000;
/** CPU milliseconds in which any schema must be compiled. */
const HEAVY_PREPARE_MS = 10_000;
/** Milliseconds without heavy validation for a client whose last such value ended the helper. */
const PENALTY_MS = 10_000;
/** Clients that are remembered for it. */
const MOST_PENALTIES = 1_000;
/** A helper that ends before it is ready this often in a row cannot be started here. */
const MOST_FAILED_STARTS = 3;

/** The client of a validation. */
export interface Asker {
  readonly clientIp: string;
  /** A plugin has authenticated the request. */
  readonly authenticated: boolean;
  /** Reports whether the verdict is still awaited. */
  wanted(): boolean;
}

/**
 * `deadline`: it took longer than it may; `overloaded`: others are before it; `unprepared`: the schema takes too long to
 * compile.
 */
export type Verdict = Fault | { readonly kind: 'deadline' | 'overloaded' | 'unprepared' } | null;

/** Returns why a value is refused, field by field; null if it is valid. */
export function errorsOf(verdict: Verdict): readonly ProblemError[] | null {
  if (verdict === null) return null;
  if (verdict.kind === 'invalid') return verdict.errors;
  return [{ in: 'body', field: '/', reason: REASONS[verdict.kind] }];
}

const REASONS = {
  steps: 'takes more steps to validate than a request may',
  deadline: 'takes more time to validate than a request may',
  overloaded: 'cannot be validated now: too much else is',
  unprepared: 'cannot be validated: its schema takes too long to prepare',
};

export interface HelperSettings {
  /** Helpers that work at once, at least 1. */
  readonly count: number;
  /** CPU milliseconds of one validation. */
  readonly deadlineMs: number;
  /** Heap limit of a helper, in MiB. */
  readonly heapMb: number;
  counted(outcome: HelperOutcome): void;
  /** Called once for each schema that cannot be prepared. */
  unprepared(what: string): void;
}

interface Waiting {
  readonly owner: string;
  readonly table: TableHelpers;
  readonly work: Work;
  readonly asker: Asker;
  settle(verdict: Verdict, outcome?: HelperOutcome): void;
}

/** A place for one helper that works. */
interface Slot {
  readonly authenticatedOnly: boolean;
  /** CPU milliseconds in which schemas are compiled. */
  readonly prepareMs: number;
  busy: boolean;
}

export class ValidationHelpers {
  readonly #settings: HelperSettings;
  readonly #slots: readonly Slot[];
  readonly #anonymous = new ItemsByOwner<Waiting>();
  readonly #authenticated = new ItemsByOwner<Waiting>();
  /** Work with schemas that take long to compile has a helper of its own, so that other work does not wait for it. */
  readonly #heavy = new ItemsByOwner<Waiting>();
  readonly #heavySlot: Slot = { authenticatedOnly: false, prepareMs: HEAVY_PREPARE_MS, busy: false };
  #heavyHelper: HelperProcess | null = null;
  /** When clients may ask again for something heavy. */
  readonly #penalties = new BoundedMap<number>(MOST_PENALTIES);
  /** Ready, without work. */
  readonly #idle: HelperProcess[] = [];
  readonly #all = new Set<HelperProcess>();
  #starting = 0;
  #failedStarts = 0;
  #lastTable = 0;
  #anonymousNext = true;
  #looking: NodeJS.Timeout | null = null;
  #resting: NodeJS.Timeout | null = null;
  #closed = false;

  constructor(settings: HelperSettings) {
    this.#settings = settings;
    const open = Math.ceil(settings.count / 2);
    this.#slots = Array.from({ length: settings.count }, (_, i) => ({
      authenticatedOnly: i >= open,
      prepareMs: PREPARE_MS,
      busy: false,
    }));
  }

  /** Opens helpers for the schemas of one artifact; call `close` when validation against them has ended. */
  open(given: SchemaTable): TableHelpers {
    return new TableHelpers(this, ++this.#lastTable, given);
  }

  /** For `TableHelpers`. */
  validate(table: TableHelpers, work: Work, asker: Asker): Promise<Verdict> {
    return new Promise((resolve) => {
      const settle = (verdict: Verdict, outcome = outcomeOf(verdict)) => {
        this.#settings.counted(outcome);
        resolve(verdict);
      };
      if (table.unpreparable.has(work.prepares)) return settle({ kind: 'unprepared' });
      this.#add({ owner: clientNetwork(asker.clientIp), table, work, asker, settle });
    });
  }

  #add(waiting: Waiting): void {
    const { owner, table, work, asker } = waiting;
    const isHeavy = work.isHeavy || table.heavy.has(work.prepares);
    if (isHeavy && (this.#penalties.get(owner) ?? 0) > performance.now()) return waiting.settle({ kind: 'overloaded' });
    const queue = isHeavy ? this.#heavy : asker.authenticated ? this.#authenticated : this.#anonymous;
    queue.add(waiting);
    if (queue.size > MOST_WAITING) queue.takeLatestOfBusiest()?.settle({ kind: 'overloaded' });
    this.#pump();
  }

  /** For `TableHelpers`. */
  forget(table: number): void {
    for (const helper of this.#all) helper.forget(table);
  }

  /** Ends all helpers; waiting work is refused. */
  close(): void {
    this.#closed = true;
    for (const timer of [this.#looking, this.#resting]) if (timer !== null) clearInterval(timer);
    for (const helper of this.#all) helper.kill();
    this.#refuseAll();
  }

  /** Gives work to helpers that are ready, and starts those that are missing. */
  #pump(): void {
    if (this.#closed) return this.#refuseAll();
    for (const slot of this.#slots) {
      if (slot.busy || !this.#hasWorkFor(slot)) continue;
      const helper = this.#idle.pop();
      if (helper === undefined) {
        this.#start();
        return this.#pumpHeavy();
      }
      const waiting = this.#take(slot);
      if (waiting === undefined) this.#idle.push(helper);
      else void this.#run(slot, helper, waiting);
    }
    this.#pumpHeavy();
    // One is kept ready to take the place of one that is ended.
    if (this.#idle.length === 0 && this.#slots.some(({ busy }) => busy)) this.#start();
  }

  #pumpHeavy(): void {
    if (this.#heavySlot.busy) return;
    const waiting = this.#takeWanted(this.#heavy);
    if (waiting === undefined) return;
    this.#heavySlot.busy = true;
    const helper = this.#heavyHelper ?? this.#open();
    this.#heavyHelper = helper;
    void helper.exited.then(() => {
      if (this.#heavyHelper === helper) this.#heavyHelper = null;
    });
    void Promise.race([helper.ready, helper.exited]).then(() => this.#run(this.#heavySlot, helper, waiting));
  }

  /** Returns undefined if no work is awaited. */
  #takeWanted(queue: ItemsByOwner<Waiting>): Waiting | undefined {
    for (let next = queue.takeInTurn(); next !== undefined; next = queue.takeInTurn()) {
      // Found out while this one waited: it is not tried again, since it would delay others.
      if (next.table.unpreparable.has(next.work.prepares)) next.settle({ kind: 'unprepared' });
      else if (next.asker.wanted()) return next;
      else next.settle({ kind: 'overloaded' });
    }
    return undefined;
  }

  #hasWorkFor({ authenticatedOnly }: Slot): boolean {
    return this.#authenticated.size > 0 || (!authenticatedOnly && this.#anonymous.size > 0);
  }

  /** Takes the next work in turn; returns undefined if no work is awaited. */
  #take({ authenticatedOnly }: Slot): Waiting | undefined {
    for (;;) {
      const anonymous = !authenticatedOnly && (this.#anonymousNext || this.#authenticated.size === 0);
      const waiting = (anonymous && this.#anonymous.takeInTurn()) || this.#authenticated.takeInTurn();
      if (waiting === undefined) {
        if (authenticatedOnly || this.#anonymous.size === 0) return undefined;
        this.#anonymousNext = true;
        continue;
      }
      if (!authenticatedOnly) this.#anonymousNext = !this.#anonymousNext;
      if (waiting.asker.wanted()) return waiting;
      waiting.settle({ kind: 'overloaded' });
    }
  }

  async #run(slot: Slot, helper: HelperProcess, waiting: Waiting): Promise<void> {
    const { table, work, settle } = waiting;
    slot.busy = true;
    this.#look();
    const outcome: Outcome = await helper.run(table.number, table.given, work, slot.prepareMs);
    if ('lost' in outcome) {
      this.#lost(slot, waiting, outcome.lost);
      // The place is free when the memory and the CPU of the process are.
      await helper.exited;
    } else {
      settle(outcome.fault);
      if (slot !== this.#heavySlot) this.#idle.push(helper);
    }
    slot.busy = false;
    this.#pump();
  }

  #lost(slot: Slot, waiting: Waiting, lost: Loss): void {
    const { owner, table, work, settle } = waiting;
    const isHeavy = slot === this.#heavySlot;
    if (lost !== 'unprepared') {
      if (isHeavy) this.#penalties.set(owner, performance.now() + PENALTY_MS);
      return settle({ kind: 'deadline' }, lost);
    }
    if (!isHeavy) {
      // It is known as heavy now, and is tried once more on the helper of its own.
      table.heavy.add(work.prepares);
      return this.#add(waiting);
    }
    table.unpreparable.add(work.prepares);
    this.#settings.unprepared(work.prepares);
    settle({ kind: 'unprepared' });
  }

  #open(): HelperProcess {
    const helper = new HelperProcess(this.#settings.deadlineMs, this.#settings.heapMb);
    this.#all.add(helper);
    void helper.exited.then(() => this.#all.delete(helper));
    return helper;
  }

  #start(): void {
    const started = this.#all.size - (this.#heavyHelper === null ? 0 : 1);
    if (this.#starting > 0 || started > this.#slots.length) return;
    this.#starting++;
    const helper = this.#open();
    void helper.exited.then(() => {
      const at = this.#idle.indexOf(helper);
      if (at >= 0) this.#idle.splice(at, 1);
    });
    void Promise.race([helper.ready.then(() => true), helper.exited.then(() => false)]).then((isReady) => {
      this.#starting--;
      this.#failedStarts = isReady ? 0 : this.#failedStarts + 1;
      if (isReady) this.#idle.push(helper);
      else if (this.#failedStarts >= MOST_FAILED_STARTS) this.#refuseAll();
      this.#pump();
    });
  }

  #refuseAll(): void {
    this.#failedStarts = 0;
    for (const queue of [this.#anonymous, this.#authenticated, this.#heavy]) {
      for (let next = queue.takeInTurn(); next !== undefined; next = queue.takeInTurn()) {
        next.settle({ kind: 'overloaded' });
      }
    }
  }

  /** Watches over those that work; helpers that have had no work for a while end. */
  #look(): void {
    if (this.#resting !== null) clearTimeout(this.#resting);
    this.#resting = setTimeout(() => {
      for (const helper of this.#idle) helper.kill();
      if (!this.#heavySlot.busy) this.#heavyHelper?.kill();
    }, IDLE_MS).unref();
    this.#looking ??= setInterval(() => {
      for (const helper of this.#all) helper.checkDeadline();
      if (this.#looking === null || this.#heavySlot.busy || this.#slots.some(({ busy }) => busy)) return;
      clearInterval(this.#looking);
      this.#looking = null;
    }, LOOK_MS);
  }
}

function outcomeOf(verdict: Verdict): HelperOutcome {
  if (verdict === null) return 'valid';
  return verdict.kind === 'steps' ? 'invalid' : verdict.kind;
}

/** Validates against the schemas of one artifact. */
export class TableHelpers {
  readonly #helpers: ValidationHelpers;
  /** For `ValidationHelpers`, as all that follows. */
  readonly number: number;
  readonly given: SchemaTable;
  /** Work that has taken long to compile, and work that has taken too long. */
  readonly heavy = new Set<string>();
  readonly unpreparable = new Set<string>();

  constructor(helpers: ValidationHelpers, number: number, given: SchemaTable) {
    this.#helpers = helpers;
    this.number = number;
    this.given = given;
  }

  /** Resolves with null if the value is valid. */
  validate(work: Work, asker: Asker): Promise<Verdict> {
    return this.#helpers.validate(this, work, asker);
  }

  close(): void {
    this.#helpers.forget(this.number);
  }
}
