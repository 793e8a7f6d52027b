/**
 * Sessions with an upstream of the earlier revisions: one for each session of a client, so that what a server keeps in
 * a session is never another's (docs/mcp.md#upstream-sessions).
 */
import type { HeaderList } from '../../exchange.ts';
import { SESSION_SECONDS } from '../../state/session-store.ts';
import type { Session } from '../client/client.ts';

/** With one upstream; past it, the one used longest ago ends. */
const MOST = 10_000;

interface Kept {
  readonly opened: Promise<Session>;
  /** Of the last request, so that it can be ended with the same credentials. */
  headers: HeaderList;
  /** Milliseconds on the monotonic clock. */
  usedAt: number;
  /** Null until it is open. */
  session: Session | null;
}

export class UpstreamSessions {
  /** By the client's session; used longest ago first. */
  readonly #kept = new Map<string, Kept>();
  readonly #end: (session: Session, headers: HeaderList) => void;

  /** `end`: tells the upstream. */
  constructor(end: (session: Session, headers: HeaderList) => void) {
    this.#end = end;
  }

  get size(): number {
    return this.#kept.size;
  }

  /** Rejects as `open` does; the next request then opens another. */
  async of(client: string, headers: HeaderList, open: () => Promise<Session>): Promise<Session> {
    const known = this.#kept.get(client);
    this.#kept.delete(client);
    const kept = known ?? { opened: open(), headers, usedAt: 0, session: null };
    kept.headers = headers;
    kept.usedAt = performance.now();
    this.#kept.set(client, kept);
    if (this.#kept.size > MOST)
      for (const oldest of this.#kept.keys()) {
        this.end(oldest);
        break;
      }
    try {
      kept.session = await kept.opened;
      return kept.session;
    } catch (error) {
      if (this.#kept.get(client) === kept) this.#kept.delete(client);
      throw error;
    }
  }

  /** The upstream does not know it any more. */
  forget(client: string, session: Session): void {
    if (this.#kept.get(client)?.session === session) this.#kept.delete(client);
  }

  /** Null where the client has none. */
  opened(client: string): { readonly opened: Promise<Session>; readonly headers: HeaderList } | null {
    return this.#kept.get(client) ?? null;
  }

  /** The client has ended its own. */
  end(client: string): void {
    const kept = this.#kept.get(client);
    this.#kept.delete(client);
    kept?.opened.then((session) => this.#end(session, kept.headers)).catch(() => {});
  }

  /** Ends those that clients do not use any more. */
  sweep(): void {
    const before = performance.now() - SESSION_SECONDS * 1000;
    for (const [client, { usedAt }] of this.#kept) {
      if (usedAt >= before) return;
      this.end(client);
    }
  }

  endAll(): void {
    for (const client of [...this.#kept.keys()]) this.end(client);
  }
}
