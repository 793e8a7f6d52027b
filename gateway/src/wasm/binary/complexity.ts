/**
 * The cost of validating and compiling a module beyond its size. At each join of control flow, a compiler holds every
 * local and every value of the operand stack (12 to 26 bytes and 7 to 43 ns each, in V8), and for each loop it reads
 * the loop's body again: products, of which a module of a few kilobytes can hold any number. They are counted over the
 * original module; the meter's additions (a branch at each loop, behind calls that wait, and around instructions that
 * work on memory by length) are in the weights.
 */
import type { ByteReader } from './bytes.ts';
import { readLocals } from './function-facts.ts';
import { blankInstruction, type Instruction, ONE_RESULT, readInstruction } from './instructions.ts';
import { type Complexity, limit, limitComplexity } from './limits.ts';
import { again, notValid } from './sections.ts';
import { heightAfter } from './stack-effects.ts';
import type { Signature } from './types.ts';

export interface Signatures {
  /** Returns a signature by index of functions, imported ones first. */
  ofFunction(index: number): Signature | undefined;
  ofType(index: number): Signature | undefined;
}

/** Throws PluginLoadError if a function, or the module, costs more than a compiler should spend on it. */
export function checkComplexity(section: ByteReader | undefined, importedFunctions: number, of: Signatures): void {
  const reader = again(section);
  const all = { merges: 0, loopBytes: 0, loops: 0 };
  const count = reader?.u32() ?? 0;
  for (let own = 0; reader && own < count; own++) {
    const body = reader.slice(limit('functionBytes', reader.u32()));
    const { merges, loopBytes, loops } = complexityOf(body, of.ofFunction(importedFunctions + own), of);
    all.merges += merges;
    all.loopBytes += loopBytes;
    all.loops += loops;
    limitComplexity(all, 'module');
  }
}

export interface FunctionComplexity extends Complexity {
  /** Values on the operand stack at the function's end. */
  readonly height: number;
}

/** Throws PluginLoadError at the first instruction that is past a limit of a function. */
export function complexityOf(body: ByteReader, signature: Signature | undefined, of: Signatures): FunctionComplexity {
  return new Counter(body, signature, of);
}

interface Frame {
  /** Height of the stack at its start, its parameters not counted. */
  readonly base: number;
  readonly params: number;
  readonly results: number;
  readonly isLoop: boolean;
}

class Counter implements FunctionComplexity {
  merges = 0;
  loopBytes = 0;
  loops = 0;
  height = 0;
  readonly #of: Signatures;
  readonly #locals: number;
  readonly #frames: Frame[] = [];
  #openLoops = 0;

  constructor(body: ByteReader, signature: Signature | undefined, of: Signatures) {
    this.#of = of;
    const params = signature?.params.length ?? 0;
    this.#locals = params + readLocals(body).count;
    this.#frames.push({ base: 0, params: 0, results: signature?.results.length ?? 0, isLoop: false });
    const instruction = blankInstruction();
    while (!body.done) {
      const start = body.at;
      readInstruction(body, instruction);
      this.#pass(instruction);
      this.loopBytes += this.#openLoops * (body.at - start);
      limitComplexity(this, 'function');
    }
  }

  /** Throws if a block ends that has not begun. */
  get #frame(): Frame {
    const frame = this.#frames.at(-1);
    if (frame === undefined) throw notValid();
    return frame;
  }

  /** Counts `times` joins of everything that is alive. */
  #meet(times: number, more = 0): void {
    this.merges += times * (this.#locals + this.height + more);
  }

  #take(values: number): void {
    this.height = Math.max(this.#frame.base, this.height - values);
  }

  #pass(instruction: Instruction): void {
    switch (instruction.kind) {
      case 'open':
        return this.#open(instruction, 1);
      case 'if':
        this.#take(1);
        return this.#open(instruction, 2);
      case 'loop':
        this.loops++;
        this.#openLoops++;
        return this.#open(instruction, 3);
      case 'else':
        this.#meet(1);
        this.height = this.#frame.base + this.#frame.params;
        return;
      case 'end':
        return this.#end();
      case 'br':
        this.#meet(1, this.#arity(instruction.index));
        return this.#leave();
      case 'br_if':
        this.#take(1);
        return this.#meet(1, this.#arity(instruction.index));
      case 'br_table':
        this.#take(1);
        this.#meet(instruction.immediate + 1, this.#arity(instruction.index));
        return this.#leave();
      case 'leave':
        this.merges += this.#frames[0]?.results ?? 0;
        return this.#leave();
      case 'call':
      case 'tail call':
        return this.#call(instruction, this.#of.ofFunction(instruction.index));
      case 'indirect':
        this.#take(1);
        return this.#call(instruction, this.#of.ofType(instruction.index));
      case 'memory.init':
      case 'memory.copy':
      case 'memory.fill':
        this.#meet(3);
        break;
    }
    this.height = heightAfter(instruction, this.height, this.#frame.base);
  }

  #open({ kind, immediate }: Instruction, times: number): void {
    const type = immediate < 0 ? undefined : this.#of.ofType(immediate);
    const params = type?.params.length ?? 0;
    const results = immediate === ONE_RESULT ? 1 : (type?.results.length ?? 0);
    this.#take(params);
    this.#frames.push({ base: this.height, params, results, isLoop: kind === 'loop' });
    this.height += params;
    this.#meet(times, results);
  }

  #end(): void {
    const { base, results, isLoop } = this.#frame;
    this.#frames.pop();
    if (isLoop) this.#openLoops--;
    this.height = base + results;
    this.merges += results;
  }

  #leave(): void {
    this.height = this.#frame.base;
  }

  #call({ kind }: Instruction, signature: Signature | undefined): void {
    const params = signature?.params.length ?? 0;
    const results = signature?.results.length ?? 0;
    this.#take(params);
    this.height += results;
    this.#meet(2, params);
    if (kind === 'tail call') this.#leave();
  }

  /** Values that a branch out of so many blocks carries. */
  #arity(depth: number): number {
    const frame = this.#frames[this.#frames.length - 1 - depth];
    if (frame === undefined) throw notValid();
    return frame.isLoop ? frame.params : frame.results;
  }
}
