/** Sessions in the process: past the limit the oldest of the owner with most ends, and its client is told. */
import { SharedMap } from '../shares/shared-map.ts';
import { MOST_SESSIONS, type OpenedSession, SESSION_SECONDS, type SessionStore } from './session-store.ts';

export interface MemorySessionOptions {
  readonly maxSessions?: number;
  /** Milliseconds. Default: the system's clock. */
  readonly now?: () => number;
}

interface Kept {
  readonly revision: string;
  /** When it ends, unless it is used before. */
  until: number;
}

export class MemorySessionStore implements SessionStore {
  readonly #now: () => number;
  readonly #sessions: SharedMap<Kept>;

  constructor({ maxSessions = MOST_SESSIONS, now = Date.now }: MemorySessionOptions = {}) {
    this.#now = now;
    this.#sessions = new SharedMap({ most: maxSessions });
  }

  get size(): number {
    return this.#sessions.size;
  }

  open({ id, owner, revision }: OpenedSession): void {
    this.#dropEnded();
    this.#sessions.set(id, { revision, until: this.#until() }, owner);
  }

  use(id: string): string | null {
    const session = this.#sessions.use(id);
    if (session === undefined) return null;
    if (session.until <= this.#now()) {
      this.#sessions.delete(id);
      return null;
    }
    session.until = this.#until();
    return session.revision;
  }

  end(id: string): boolean {
    const session = this.#sessions.get(id);
    if (session === undefined) return false;
    this.#sessions.delete(id);
    return session.until > this.#now();
  }

  #until(): number {
    return this.#now() + SESSION_SECONDS * 1000;
  }

  #dropEnded(): void {
    const now = this.#now();
    for (const [id, { until }] of this.#sessions) {
      if (until > now) return;
      this.#sessions.delete(id);
    }
  }
}
