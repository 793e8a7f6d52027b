/** Limits of a module's size; a module beyond any of them does not load. Documented in sdk/ABI.md. */
import { PluginLoadError } from './plugin-load-error.ts';

export const MODULE_LIMITS = {
  bytes: 8 << 20,
  types: 10_000,
  imports: 256,
  functions: 20_000,
  /** Bytes of one function's code: engines compile a function as a whole. */
  functionBytes: 512 << 10,
  /** Declared locals of one function, beyond its parameters. */
  locals: 5_000,
  globals: 2_000,
  exports: 2_000,
  tables: 10,
  tableElements: 65_536,
  segments: 10_000,
  /** Functions named by element segments, together. */
  elements: 100_000,
} as const;

/** Throws if a count exceeds its limit; `what` is a key's wording for the message. */
export function limit(what: keyof typeof MODULE_LIMITS, count: number): number {
  const most = MODULE_LIMITS[what];
  if (count > most) throw new PluginLoadError(`the module has too many ${what}: ${count}, of at most ${most}`);
  return count;
}

/** Cost of compiling beyond the size of the code: see `complexity.ts`. */
export interface Complexity {
  /** Locals and values of the stack that compilers hold, one for each join of control flow. */
  readonly merges: number;
  /** Bytes of loops' bodies, those of inner loops once for each loop around them. */
  readonly loopBytes: number;
  readonly loops: number;
}

export const COMPLEXITY_LIMITS: Readonly<Record<'function' | 'module', Complexity>> = {
  function: { merges: 4_000_000, loopBytes: 8_000_000, loops: 5_000 },
  module: { merges: 64_000_000, loopBytes: 128_000_000, loops: 200_000 },
};

const MEANINGS: Readonly<Record<keyof Complexity, string>> = {
  merges: 'locals and values on the stack, counted at each branch, block and call',
  loopBytes: 'bytes of code in loops, counted for each loop around them',
  loops: 'loops',
};

/** Throws if compiling costs more than a function, or a module, may. */
export function limitComplexity(complexity: Complexity, scope: 'function' | 'module'): void {
  const most = COMPLEXITY_LIMITS[scope];
  if (complexity.merges > most.merges) throw tooComplex(scope, 'merges', most.merges);
  if (complexity.loopBytes > most.loopBytes) throw tooComplex(scope, 'loopBytes', most.loopBytes);
  if (complexity.loops > most.loops) throw tooComplex(scope, 'loops', most.loops);
}

function tooComplex(scope: 'function' | 'module', what: keyof Complexity, most: number): PluginLoadError {
  const where = scope === 'function' ? 'a function of the module is' : 'the module is, all functions together,';
  return new PluginLoadError(
    `${where} too complex to compile: more than ${most} ${MEANINGS[what]}; split the function, or give it fewer locals`,
  );
}
