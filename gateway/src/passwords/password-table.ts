/** Users and passwords of one config: stays in the host, and says of a name and password only whose they are. */
import { createHmac, randomBytes } from 'node:crypto';
import type { PasswordHash } from './password-hash.ts';
import { VerificationQueue } from './verification-queue.ts';

/** One user of the config. */
export interface PasswordEntry {
  readonly name: string;
  readonly hash: PasswordHash;
}

export interface PasswordTableOptions {
  /** Shared by all tables of the process where it is not given. */
  readonly queue?: VerificationQueue;
  /** Milliseconds, never going back. Default: the monotonic clock. */
  readonly now?: () => number;
}

/** A slow hash is verified once in so many milliseconds for the same name and password. */
export const REMEMBERED_MS = 60_000;
/** Results kept at once. Two verifications at a time make fewer than this in that time. */
const MOST_REMEMBERED = 10_000;
export const NOBODY = -1;

const sharedQueue = new VerificationQueue();

export class PasswordTable {
  readonly #queue: VerificationQueue;
  readonly #now: () => number;
  /** Makes what is kept useless outside this table. */
  readonly #key = randomBytes(32);
  readonly #hashes: readonly PasswordHash[];
  readonly #byName = new Map<string, number>();
  /** By digest of name and password; the oldest first. */
  readonly #remembered = new Map<string, { readonly index: number; readonly until: number }>();
  readonly #underWay = new Map<string, Promise<number>>();

  /** Names must be unique. */
  constructor(entries: readonly PasswordEntry[], options: PasswordTableOptions = {}) {
    this.#queue = options.queue ?? sharedQueue;
    this.#now = options.now ?? (() => performance.now());
    this.#hashes = entries.map(({ hash }) => hash);
    for (const [index, { name }] of entries.entries()) this.#byName.set(this.#digest(name), index);
  }

  /**
   * Index of the user whose name and password they are, or NOBODY. A name that nobody has takes the time of one that
   * somebody has. Rejects with QueueFull.
   */
  verify(name: string, password: string): number | Promise<number> {
    const found = this.#byName.get(this.#digest(name));
    const hash = this.#hashes[found ?? this.#standIn(name)];
    if (hash === undefined) return NOBODY;
    const key = this.#digest(name, password);
    const known = this.#recall(key) ?? this.#underWay.get(key);
    if (known !== undefined) return known;
    // Made before the queue, so that passwords in plain text never wait.
    const index = found ?? NOBODY;
    if (!hash.slow) return hash.matches(password) === true ? index : NOBODY;
    const work = this.#queue.run(async () => ((await hash.matches(password)) ? index : NOBODY));
    const settled = work.then((result) => this.#remember(key, result)).finally(() => this.#underWay.delete(key));
    this.#underWay.set(key, settled);
    return settled;
  }

  /** The same entry each time for a name that nobody has: in a mixed table, some are quick and some slow. */
  #standIn(name: string): number {
    const number = createHmac('sha256', this.#key).update('stand-in\0').update(name).digest().readUInt32BE(0);
    return this.#hashes.length === 0 ? NOBODY : number % this.#hashes.length;
  }

  #digest(...parts: readonly string[]): string {
    const hmac = createHmac('sha256', this.#key);
    for (const part of parts) hmac.update(`${Buffer.byteLength(part)}:`).update(part);
    return hmac.digest('base64');
  }

  #recall(key: string): number | undefined {
    const known = this.#remembered.get(key);
    return known !== undefined && known.until > this.#now() ? known.index : undefined;
  }

  #remember(key: string, index: number): number {
    this.#remembered.delete(key);
    this.#remembered.set(key, { index, until: this.#now() + REMEMBERED_MS });
    for (const oldest of this.#remembered.keys()) {
      if (this.#remembered.size <= MOST_REMEMBERED) break;
      this.#remembered.delete(oldest);
    }
    return index;
  }
}
