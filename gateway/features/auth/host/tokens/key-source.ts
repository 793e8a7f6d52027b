/** Sources of a verifier's keys. */

import type { OwnerPath } from '../../../kit.ts';
import type { KeyTable } from './key-table.ts';

export interface KeySource {
  /** The current keys: another table when they have changed; null before the first. */
  readonly current: KeyTable | null;
  /**
   * Returns the keys to look for `kid` in, newer ones if it is not known. `owner`: the client that waits for them.
   * Rejects with IssuerUnavailable.
   */
  keysFor(kid: string | undefined, owner: OwnerPath): Promise<KeyTable>;
  /**
   * Returns the keys after another look, for a token whose key name is not in `known`; null if they have not changed.
   * Rejects with IssuerUnavailable.
   */
  newerThan(known: KeyTable, owner: OwnerPath): Promise<KeyTable | null>;
}

/** Keys that stand in the config. */
export class FixedKeys implements KeySource {
  readonly current: KeyTable;

  constructor(keys: KeyTable) {
    this.current = keys;
  }

  async keysFor(): Promise<KeyTable> {
    return this.current;
  }

  async newerThan(): Promise<null> {
    return null;
  }
}
