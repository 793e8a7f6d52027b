/** Compiling modules, whole and off the event loop. */
import { setFlagsFromString } from 'node:v8';

/** Longest delay of a timer: the engine's threads keep no process alive by themselves. */
const LONG_MS = 2 ** 30;

/**
 * Every function is compiled now: at its first call, as is usual, a long one holds the event loop for 100 ms a
 * megabyte. The engine looks at the flag when compiling begins; for other modules of the process it stays as it was.
 */
export async function compileModule(bytes: Uint8Array): Promise<WebAssembly.Module> {
  const alive = setInterval(() => {}, LONG_MS);
  try {
    setFlagsFromString('--no-wasm-lazy-compilation');
    const compiling = WebAssembly.compile(bytes);
    setFlagsFromString('--wasm-lazy-compilation');
    return await compiling;
  } finally {
    clearInterval(alive);
  }
}
