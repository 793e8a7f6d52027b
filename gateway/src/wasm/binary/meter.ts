/**
 * Metering a function's code. Fuel is taken ahead for a stretch of code, at most STRETCH units of it: for code outside
 * loops at the function's start, for code inside a loop at its header, and anew when a stretch has grown too long. When
 * the fuel has run out, `refill` looks at the clock, which lets the event loop turn or stops the call.
 *
 * Every path passes the mark of the stretch that it runs in: branches lead forward, except those to the headers of
 * loops, and if a new stretch begins inside a block, one more begins at the end of each block around it (and at its
 * `else`), so that no branch leads into the middle of a stretch from before its mark.
 */
import { type ByteReader, ByteWriter } from './bytes.ts';
import { CALL, costOf, HOST_CALL } from './costs.ts';
import { entryCost, readLocals } from './function-facts.ts';
import { bulkInPieces, charge, growInPieces, initInPieces, type MeterLayout, refillIfEmpty } from './injected.ts';
import { blankInstruction, type Instruction, readInstruction } from './instructions.ts';
import { valueByte } from './types.ts';
import { noteStore, type StoredType, storedType } from './written.ts';

/** Units that are taken ahead at once; one instruction may cost more. */
const STRETCH = 16_384;

/** Facts about the current function and those that it calls, for the meter. */
export interface MeterPlan {
  readonly params: number;
  /** It looks at the clock again after each call that it makes. */
  readonly guarded: boolean;
  /** Its callers pay for the code outside its loops. */
  readonly paidByCaller: boolean;
  /** Returns the cost of a call of one of the module's own functions, beyond the call itself; counted from 0. */
  costOfCalling(own: number): number;
}

interface Insertion {
  readonly at: number;
  /** Position at which the original goes on. */
  readonly resume: number;
  /**
   * `charge`: takes `value`; `look`: looks at the fuel; `index`: `value` is the function's new index; `store`: notes
   * where a value of type `stored` is stored, at `value` bytes behind the address.
   */
  readonly kind: 'charge' | 'look' | 'index' | 'grow' | 'store' | 'memory.init' | 'memory.copy' | 'memory.fill';
  value: number;
  readonly stored?: StoredType;
}

/** A block, `if` or loop that is open. */
interface Frame {
  /** For a loop: the stretch around it. */
  readonly around: Insertion | null;
  /** A stretch has begun inside. */
  broken: boolean;
}

/** Writes a metered copy of one function's body (as it stands in the code section, without its size). */
export function meterFunction(body: ByteReader, plan: MeterPlan, layout: MeterLayout): ByteWriter {
  const locals = readLocals(body);
  const codeStart = body.at;
  const insertions = new Scan(body, plan, layout, locals.count).insertions;
  const scratch = new ScratchTypes(insertions, plan.params + locals.count);

  const out = new ByteWriter(body.end - locals.at + 32 * insertions.length + 32);
  out.u32(locals.groups + scratch.types.length).raw(body.bytes.subarray(locals.at, codeStart));
  for (const type of scratch.types) out.u32(1).u8(valueByte[type]);

  let copied = codeStart;
  for (const { at, kind, value, resume, stored } of insertions) {
    out.raw(body.bytes.subarray(copied, at));
    copied = resume;
    switch (kind) {
      case 'charge':
        if (value > 0) charge(out, value, layout);
        break;
      case 'look':
        refillIfEmpty(out, layout);
        break;
      case 'index':
        out.u32(value);
        break;
      case 'grow':
        growInPieces(out, layout);
        break;
      case 'store':
        noteStore(out, value, { address: scratch.first, value: scratch.of(stored ?? 'i32') }, layout);
        break;
      case 'memory.init':
        initInPieces(out, value, layout);
        break;
      default:
        bulkInPieces(out, kind, layout);
    }
  }
  return out.raw(body.bytes.subarray(copied, body.end));
}

/** Locals that a function gets for operands of its stores: one for addresses, and one for each type of values. */
class ScratchTypes {
  readonly types: readonly StoredType[];
  /** Index of the local for addresses. */
  readonly first: number;

  constructor(insertions: readonly Insertion[], first: number) {
    const stored = new Set(insertions.flatMap(({ stored }) => stored ?? []));
    this.types = stored.size === 0 ? [] : ['i32', ...stored];
    this.first = first;
  }

  /** Index of the local for values of a type that the function stores. */
  of(type: StoredType): number {
    return this.first + this.types.lastIndexOf(type);
  }
}

class Scan {
  readonly insertions: Insertion[] = [];
  readonly #plan: MeterPlan;
  readonly #layout: MeterLayout;
  readonly #frames: Frame[] = [{ around: null, broken: false }];
  #stretch: Insertion;

  constructor(code: ByteReader, plan: MeterPlan, layout: MeterLayout, locals: number) {
    this.#plan = plan;
    this.#layout = layout;
    this.#stretch = this.#begin(code.at, entryCost(locals));
    const entry = this.#stretch;
    const instruction = blankInstruction();
    while (!code.done) {
      const start = code.at;
      readInstruction(code, instruction);
      const cost = costOf(instruction) + this.#costOfCalled(instruction);
      if (this.#stretch.value > 0 && this.#stretch.value + cost > STRETCH) this.#break(start);
      this.#stretch.value += cost;
      this.#pass(instruction, start, code.at);
    }
    if (plan.paidByCaller) entry.value = 0;
  }

  #begin(at: number, value = 0): Insertion {
    const stretch: Insertion = { at, kind: 'charge', value, resume: at };
    this.insertions.push(stretch);
    return stretch;
  }

  /**
   * Begins a new stretch, and more of them at the ends of the blocks around it. A frame is broken only if all around it
   * are.
   */
  #break(at: number): void {
    for (let depth = this.#frames.length - 1; depth >= 0; depth--) {
      const frame = this.#frames[depth];
      if (frame === undefined || frame.broken) break;
      frame.broken = true;
    }
    this.#stretch = this.#begin(at);
  }

  #costOfCalled({ kind, index }: Instruction): number {
    if (kind !== 'call' && kind !== 'tail call') return 0;
    const own = index - this.#layout.importedFunctions;
    return own < 0 ? HOST_CALL - CALL : this.#plan.costOfCalling(own);
  }

  #pass(instruction: Instruction, start: number, end: number): void {
    const { kind, index } = instruction;
    switch (kind) {
      case 'open':
      case 'if':
        this.#frames.push({ around: null, broken: false });
        break;
      case 'loop':
        this.#frames.push({ around: this.#stretch, broken: false });
        this.#stretch = this.#begin(end);
        this.#stretch.value = 1;
        break;
      case 'else':
        if (this.#frames.at(-1)?.broken) this.#stretch = this.#begin(end);
        break;
      case 'end': {
        const frame = this.#frames.pop();
        if (frame?.around) this.#stretch = frame.around;
        if (frame?.broken && this.#frames.length > 0) this.#stretch = this.#begin(end);
        break;
      }
      case 'call':
      case 'tail call':
      case 'ref.func':
        this.#named(kind, index, start, end);
        break;
      case 'indirect':
        this.#break(end);
        this.#look(end);
        break;
      case 'grow':
        this.insertions.push({ at: start, kind, value: 0, resume: end });
        break;
      case 'store': {
        const { offset } = instruction;
        this.insertions.push({ at: start, kind, value: offset, resume: start, stored: storedType(instruction) });
        break;
      }
      case 'memory.init':
      case 'memory.copy':
      case 'memory.fill':
        this.insertions.push({ at: start, kind, value: index, resume: end });
        break;
    }
  }

  #named(kind: 'call' | 'tail call' | 'ref.func', index: number, start: number, end: number): void {
    const own = index - this.#layout.importedFunctions;
    if (own >= 0) {
      const value = index + this.#layout.addedImports;
      this.insertions.push({ at: start + 1, kind: 'index', value, resume: end });
    }
    if (kind !== 'call') return;
    // The host charges fuel by the length of its work.
    if (own < 0) this.#look(end);
    else if (this.#plan.guarded && this.#plan.costOfCalling(own) === 0) this.#break(end);
  }

  #look(at: number): void {
    this.insertions.push({ at, kind: 'look', value: 0, resume: at });
  }
}
