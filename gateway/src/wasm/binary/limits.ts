/** How large a module may be; past any of these it does not load. Documented in sdk/ABI.md. */
import { PluginLoadError } from './plugin-load-error.ts';

export const MODULE_LIMITS = {
  bytes: 8 << 20,
  types: 10_000,
  imports: 256,
  functions: 20_000,
  /** Of one function's code: engines compile a function as a whole. */
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

/** Throws where a count exceeds its limit; `what` is a key's wording for the message. */
export function limit(what: keyof typeof MODULE_LIMITS, count: number): number {
  const most = MODULE_LIMITS[what];
  if (count > most) throw new PluginLoadError(`the module has too many ${what}: ${count}, of at most ${most}`);
  return count;
}
