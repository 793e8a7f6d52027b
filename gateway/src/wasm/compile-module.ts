/** Compiling modules, whole and off the event loop. */
import { setFlagsFromString } from 'node:v8';

/** Longest delay of a timer: the engine's threads keep no process alive by themselves. */
const LONG_MS = 2 ** 30;

/** Modules that this thread compiles at the moment. */
let compiling = 0;

/**
 * Compiles every function now: at its first call, as is usual, a long one holds the event loop for 100 ms a megabyte.
 * The engine reads the flag at some time while it compiles, on one of its threads, so the flag stays set until no
 * module is being compiled; other modules compiled meanwhile are compiled whole, too.
 */
export async function compileModule(bytes: Uint8Array): Promise<WebAssembly.Module> {
  const alive = setInterval(() => {}, LONG_MS);
  if (compiling++ === 0) setFlagsFromString('--no-wasm-lazy-compilation');
  try {
    return await WebAssembly.compile(bytes);
  } finally {
    if (--compiling === 0) setFlagsFromString('--wasm-lazy-compilation');
    clearInterval(alive);
  }
}
