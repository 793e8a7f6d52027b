/** Sessions in the process. */
import { ByOwner } from '../by-owner.ts';
import { MOST_SESSIONS, type OpenedSession, SESSION_SECONDS, type SessionStore } from './session-store.ts';

export interface MemorySessionOptions {
  readonly maxSessions?: number;
  /** Milliseconds. Default: the system's clock. */
  readonly now?: () => number;
}

interface Kept extends OpenedSession {
  /** When it ends, unless it is used before. */
  until: number;
}

export class MemorySessionStore implements SessionStore {
  readonly #maxSessions: number;
  readonly #now: () => number;
  /** The one that was used longest ago first. */
  readonly #byId = new Map<string, Kept>();
  readonly #byOwner = new ByOwner<Kept>();

  constructor({ maxSessions = MOST_SESSIONS, now = Date.now }: MemorySessionOptions = {}) {
    this.#maxSessions = maxSessions;
    this.#now = now;
  }

  get size(): number {
    return this.#byId.size;
  }

  open(session: OpenedSession): void {
    this.#dropEnded();
    if (this.#byId.size >= this.#maxSessions) {
      const oldest = this.#byOwner.takeOldestOfBusiest();
      if (oldest) this.#byId.delete(oldest.id);
    }
    this.#keep({ ...session, until: 0 });
  }

  use(id: string): string | null {
    const session = this.#byId.get(id);
    if (session === undefined) return null;
    this.#drop(session);
    if (session.until <= this.#now()) return null;
    this.#keep(session);
    return session.revision;
  }

  end(id: string): boolean {
    const session = this.#byId.get(id);
    if (session === undefined) return false;
    this.#drop(session);
    return session.until > this.#now();
  }

  #keep(session: Kept): void {
    session.until = this.#now() + SESSION_SECONDS * 1000;
    this.#byId.set(session.id, session);
    this.#byOwner.add(session);
  }

  #drop(session: Kept): void {
    this.#byId.delete(session.id);
    this.#byOwner.delete(session);
  }

  #dropEnded(): void {
    const now = this.#now();
    for (const session of this.#byId.values()) {
      if (session.until > now) return;
      this.#drop(session);
    }
  }
}
