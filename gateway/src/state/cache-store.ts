/** The port behind which cached responses and verified credentials live. */

import type { OwnerPath } from '../shares/owner-path.ts';

export interface CacheStore {
  /** No method answers with a promise, so that a plugin that asks need not be made to wait. */
  readonly immediate?: boolean;
  /** Returns null if the key is absent, or has expired. Rejects with StateUnavailable. */
  get(key: string): Uint8Array | null | Promise<Uint8Array | null>;
  /**
   * Keeps the value for so many seconds, or less when room runs out: the oldest of `owner` goes first, if that has
   * most. Default: nobody. Rejects with StateUnavailable.
   */
  set(key: string, value: Uint8Array, ttlSeconds: number, owner?: OwnerPath): void | Promise<void>;
  delete(key: string): void | Promise<void>;
}
