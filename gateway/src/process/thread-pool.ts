/**
 * The threads of libuv's pool, in which the system's resolver and files block (docs/decisions.md#name-lookups). Node.js
 * starts it on first use, with the environment of that moment: a program calls this before it loads modules that use
 * files or names.
 */

/** Threads of a process. They are idle except for their stacks. */
const THREADS = 24;
const NODE_DEFAULT = 4;
/** libuv's own limit. */
const MOST_THREADS = 1024;

let threads = NODE_DEFAULT;

/** Threads for this process and those that inherit its environment, if `UV_THREADPOOL_SIZE` does not say how many. */
export function enlargeThreadPool(env: NodeJS.ProcessEnv): void {
  env['UV_THREADPOOL_SIZE'] ??= String(THREADS);
  const size = Number.parseInt(env['UV_THREADPOOL_SIZE'], 10);
  threads = Math.min(MOST_THREADS, Math.max(1, size || 1));
}

/** Returns the number of names that libuv looks up at once: half of its threads. */
export function resolverThreads(): number {
  return Math.floor((threads + 1) / 2);
}
