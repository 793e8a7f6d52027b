/** Users and passwords of one config: stays in the host, and reveals only the owner of a name and password. */
import { hash, randomBytes } from 'node:crypto';
import { Checks, FairQueue, type OwnerPath, SharedMap } from '../../../kit.ts';
import type { PasswordHash } from './password-hash.ts';

/** One user of the config. */
export interface PasswordEntry {
  readonly name: string;
  readonly hash: PasswordHash;
}

export interface PasswordTableOptions {
  /** Default: one queue for all tables of the process. */
  readonly queue?: FairQueue;
  /** Milliseconds, never going back. Default: the monotonic clock. */
  readonly now?: () => number;
}

/** A slow hash is verified once in so many milliseconds for the same name and password. */
export const REMEMBERED_MS = 60_000;
/** Results kept at once. Two verifications at a time make fewer than this in that time. */
const MOST_REMEMBERED = 10_000;
export const NOBODY = -1;

/** Slow hashes take tens of milliseconds of a CPU and megabytes each. */
const AT_ONCE = { atOnce: 2, mostWaiting: 256, mostMs: 10_000 };

const sharedQueue = new FairQueue(AT_ONCE);

export class PasswordTable {
  readonly #checks: Checks<number>;
  readonly #now: () => number;
  /** Makes the stored digests useless outside this table. */
  readonly #key = randomBytes(32).toString('base64');
  readonly #hashes: readonly PasswordHash[];
  readonly #byName = new Map<string, number>();
  /** Verified users by digest of name and password. */
  readonly #remembered = new SharedMap<{ readonly index: number; readonly until: number }>({ most: MOST_REMEMBERED });

  /** Names must be unique. */
  constructor(entries: readonly PasswordEntry[], options: PasswordTableOptions = {}) {
    this.#checks = new Checks(options.queue ?? sharedQueue, (index) => index !== NOBODY);
    this.#now = options.now ?? (() => performance.now());
    this.#hashes = entries.map(({ hash }) => hash);
    for (const [index, { name }] of entries.entries()) this.#byName.set(this.#digest(name), index);
  }

  /**
   * Returns the index of the user with this name and password, or NOBODY. An unknown name takes as long as a known one.
   * `owner`: the asking client. Rejects with Crowded.
   */
  verify(name: string, password: string, owner: OwnerPath): number | Promise<number> {
    const found = this.#byName.get(this.#digest(name));
    const known = this.#hashes[found ?? this.#standIn(name)];
    if (known === undefined) return NOBODY;
    const index = found ?? NOBODY;
    // Passwords in plain text never wait.
    if (!known.slow) return known.matches(password) === true ? index : NOBODY;
    const key = this.#digest(name, password);
    const before = this.#recall(key);
    if (before !== undefined) return before;
    const run = async () => this.#remember(key, (await known.matches(password)) ? index : NOBODY, owner);
    return this.#checks.run({ key, name: this.#digest(name), owner, run });
  }

  /** Returns the same entry each time for an unknown name: in a mixed table, some are quick and some slow. */
  #standIn(name: string): number {
    const number = Number.parseInt(hash('sha256', `stand-in:${this.#key}${name}`, 'hex').slice(0, 8), 16);
    return this.#hashes.length === 0 ? NOBODY : number % this.#hashes.length;
  }

  #digest(name: string, password = ''): string {
    return hash('sha256', `${this.#key}${name.length}:${name}${password}`, 'base64');
  }

  #recall(key: string): number | undefined {
    const known = this.#remembered.get(key);
    return known !== undefined && known.until > this.#now() ? known.index : undefined;
  }

  #remember(key: string, index: number, owner: OwnerPath): number {
    this.#remembered.set(key, { index, until: this.#now() + REMEMBERED_MS }, owner);
    return index;
  }
}
