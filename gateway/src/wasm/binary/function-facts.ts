/** Facts about a function that the meter needs before it can meter any: its cost, and its calls. */
import type { ByteReader } from './bytes.ts';
import { CALL, costOf, HOST_CALL } from './costs.ts';
import { blankInstruction, readInstruction } from './instructions.ts';
import { limit } from './limits.ts';

/** A function without calls that costs at most this outside its loops is paid for by its callers. */
const PAID_BY_CALLER = 128;

export interface FunctionFacts {
  /** Cost of a call for its caller, beyond the call itself; -1: it pays for itself. */
  readonly paidByCaller: number;
  /** Its cost, with loops run once; without the functions that it calls. */
  readonly cost: number;
  /** The functions that it calls, one entry for each place; of the module's own, counted from 0. */
  readonly calls: readonly number[];
  /** It calls through a table. */
  readonly callsIndirectly: boolean;
}

/** Passes over the declarations of locals; how many there are. */
export function readLocals(body: ByteReader): { readonly groups: number; readonly at: number; readonly count: number } {
  const groups = body.u32();
  const at = body.at;
  let count = 0;
  for (let i = 0; i < groups; i++) {
    count += body.u32();
    limit('locals', count);
    body.u8();
  }
  return { groups, at, count };
}

/** Returns the cost of a function's entry, which sets its locals to zero. */
export function entryCost(locals: number): number {
  return 1 + (locals >> 1);
}

/**
 * Reads a function's body. `refer` is called with each function that is referred to, `init` with each segment of data
 * that memory is initialised from.
 */
export function factsOf(
  body: ByteReader,
  importedFunctions: number,
  refer: (index: number) => void,
  init: (segment: number) => void,
): FunctionFacts {
  const instruction = blankInstruction();
  const calls: number[] = [];
  /** One entry a nesting level: whether a loop is open there. */
  const inLoop: boolean[] = [false];
  let outside = entryCost(readLocals(body).count);
  let inside = 0;
  let paysItself = false;
  let callsIndirectly = false;
  while (!body.done) {
    readInstruction(body, instruction);
    let cost = costOf(instruction);
    const looping = inLoop[inLoop.length - 1] ?? false;
    switch (instruction.kind) {
      case 'open':
      case 'if':
        inLoop.push(looping);
        break;
      case 'loop':
        inLoop.push(true);
        break;
      case 'end':
        inLoop.pop();
        break;
      case 'call':
      case 'tail call':
        paysItself = true;
        if (instruction.index < importedFunctions) cost += HOST_CALL - CALL;
        else calls.push(instruction.index - importedFunctions);
        break;
      case 'indirect':
        paysItself = true;
        callsIndirectly = true;
        break;
      case 'ref.func':
        refer(instruction.index);
        break;
      case 'memory.init':
        init(instruction.index);
        paysItself = true;
        break;
      case 'memory.copy':
      case 'memory.fill':
      case 'grow':
        paysItself = true;
        break;
    }
    if (looping) inside += cost;
    else outside += cost;
  }
  const paidByCaller = paysItself || outside > PAID_BY_CALLER ? -1 : outside;
  return { paidByCaller, cost: outside + inside, calls, callsIndirectly };
}
