/** Compiling modules, whole and off the event loop. */
import { createHash } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';

/** Longest delay of a timer: the engine's threads keep no process alive by themselves. */
const LONG_MS = 2 ** 30;

/** Modules that this thread compiles at the moment, by the digest of their bytes. */
const compiling = new Map<string, Promise<WebAssembly.Module>>();

/**
 * Compiles every function now: at its first call, as is usual, a long one holds the event loop for 100 ms a megabyte.
 * Calls with equal bytes share one compilation: V8 14.6 never ends some of ten or more compilations of equal bytes that
 * run at once with this flag, and keeps a core busy.
 */
export async function compileModule(bytes: Uint8Array): Promise<WebAssembly.Module> {
  const digest = createHash('sha256').update(bytes).digest('base64');
  const running = compiling.get(digest);
  if (running) return await running;
  const compilation = compileWhole(bytes).finally(() => {
    compiling.delete(digest);
    if (compiling.size === 0) setFlagsFromString('--wasm-lazy-compilation');
  });
  compiling.set(digest, compilation);
  return await compilation;
}

/**
 * The engine reads the flag at some time while it compiles, on one of its threads, so the flag stays set until no
 * module is being compiled; other modules compiled meanwhile are compiled whole, too.
 */
async function compileWhole(bytes: Uint8Array): Promise<WebAssembly.Module> {
  const alive = setInterval(() => {}, LONG_MS);
  setFlagsFromString('--no-wasm-lazy-compilation');
  try {
    return await WebAssembly.compile(bytes);
  } finally {
    clearInterval(alive);
  }
}
