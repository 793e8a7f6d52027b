/** How much memory the budgets of a process have by default (docs/production.md#memory). */
import { totalmem } from 'node:os';
import { SERVE_OPTIONS } from '../options/options.ts';
import type { ServeOptions } from '../options/serve-options.ts';
import { DEFAULT_LIMITS } from '../wasm/call/plugin.ts';

/** Parts of the memory that the process may use. The rest is for the process itself and its validation helpers. */
const PART = 1 / 10;
/** Headers are in memory three times: as they came, as they were joined, and as they go to an upstream. */
const HEADERS_PART = 1 / 32;

/** Bytes, of all workers together. */
export interface MemoryBudgets {
  readonly bodies: number;
  readonly responses: number;
  readonly headers: number;
  /** Memory of plugin instances whose calls wait. */
  readonly plugins: number;
}

/** Returns the bytes that this process may use: the container's limit, else the machine's memory. */
function usableMemory(): number {
  const constrained = process.constrainedMemory();
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}

/** Keeps defaults to a part of the memory. Options that set another value count as they are. */
export function memoryBudgets(
  options: Pick<ServeOptions, 'maxBufferedBytes' | 'maxHeldResponseBytes' | 'maxHeldHeaderBytes'>,
  memory = usableMemory(),
): MemoryBudgets {
  const within = (bytes: number, part: number) => Math.min(bytes, Math.floor(memory * part));
  const ofOption = (name: keyof typeof options, part: number) =>
    options[name] === SERVE_OPTIONS[name].default ? within(options[name], part) : options[name];
  return {
    bodies: ofOption('maxBufferedBytes', PART),
    responses: ofOption('maxHeldResponseBytes', PART),
    headers: ofOption('maxHeldHeaderBytes', HEADERS_PART),
    plugins: within(DEFAULT_LIMITS.waitingBytes, PART),
  };
}
