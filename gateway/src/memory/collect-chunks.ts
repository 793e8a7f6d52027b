/**
 * Frees chunks that have been streamed: each read of a socket takes up to 64 KiB outside of V8's heap, and V8 collects
 * the young generation by its own size, which chunks hardly fill. Without this, a long download holds a hundred
 * megabytes of chunks that have been written long ago (docs/performance.md, large downloads).
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Bytes of a chunk; smaller ones are those of small messages, which V8's own collections keep up with. */
const LARGE = 32 << 10;
/** Bytes of large chunks after which dead ones are freed. */
const COLLECT_AFTER = 8 << 20;

type CollectGarbage = (options: { readonly type: 'minor'; readonly execution: 'sync' }) => void;

let collect: CollectGarbage | null = null;
let uncollected = 0;

/** Called for each chunk of a body that is passed on, with its length. */
export function streamed(bytes: number): void {
  if (bytes < LARGE) return;
  uncollected += bytes;
  if (uncollected < COLLECT_AFTER) return;
  uncollected = 0;
  collect ??= exposed();
  collect({ type: 'minor', execution: 'sync' });
}

/** Returns the engine's collector; the flag exposes it to contexts made from now on, and has no other effect. */
function exposed(): CollectGarbage {
  setFlagsFromString('--expose-gc');
  const gc: CollectGarbage = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  return gc;
}
