/** Where a verifier has its keys from. */
import type { OwnerPath } from '../../shares/owner-path.ts';
import type { KeyTable } from './key-table.ts';

export interface KeySource {
  /** The keys at hand: another table when they have changed; null before the first. */
  readonly current: KeyTable | null;
  /**
   * The keys to look for `kid` in, newer ones if it is not known. `owner`: who waits for them meanwhile. Rejects with
   * IssuerUnavailable.
   */
  keysFor(kid: string | undefined, owner: OwnerPath): Promise<KeyTable>;
  /**
   * The keys after another look, for a token whose name of a key chose none of `known`. Returns null if they have not
   * changed. Rejects with IssuerUnavailable.
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
