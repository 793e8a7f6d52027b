/**
 * Sessions with an upstream of the earlier revisions: one for each session of a client, so that a server's state of a
 * session is never shared (docs/mcp.md#upstream-sessions).
 */
import type { HeaderList } from '../../exchange.ts';
import type { OwnerPath } from '../../shares/owner-path.ts';
import { SharedMap } from '../../shares/shared-map.ts';
import { SESSION_SECONDS } from '../../state/session-store.ts';
import type { Session } from '../client/client.ts';

/**
 * Most sessions with one upstream. Past it the oldest of the client that has most ends; that client opens no further
 * one.
 */
const MOST = 10_000;
/** Weights of a session, and of the note that it had to end. */
const OPEN = 4;
const ENDED = 1;
/** Milliseconds. */
const UNUSED_MS = SESSION_SECONDS * 1000;

interface Kept {
  readonly opened: Promise<Session>;
  /** Headers of the last request, so that it can be ended with the same credentials. */
  headers: HeaderList;
  /** Milliseconds on the monotonic clock. */
  usedAt: number;
  /** Null until it is open. */
  session: Session | null;
  /** It had to end for others: its state is lost, and its client must know. */
  hasEnded: boolean;
}

export interface SessionOwner {
  readonly headers: HeaderList;
  readonly owner: OwnerPath;
}

/** There is no room for a session of this client. */
export class UpstreamSessionsFull extends Error {}

/** The session had to end for others. */
export class UpstreamSessionEnded extends Error {}

export class UpstreamSessions {
  /** Sessions by the client's session. */
  readonly #kept: SharedMap<Kept>;
  readonly #end: (session: Session, headers: HeaderList) => void;

  /** `end`: tells the upstream. */
  constructor(end: (session: Session, headers: HeaderList) => void, most = MOST) {
    this.#end = end;
    this.#kept = new SharedMap({
      most: most * OPEN,
      isSpent: ({ usedAt }) => usedAt < performance.now() - UNUSED_MS,
      remains: (kept) => (kept.hasEnded ? null : { value: { ...kept, hasEnded: true }, weight: ENDED }),
      gone: (_, kept) => this.#told(kept),
    });
  }

  get size(): number {
    return this.#kept.size;
  }

  /**
   * Rejects as `open` does; the next request then opens another. Rejects with UpstreamSessionsFull, and with
   * UpstreamSessionEnded if a session had to end. `owner`: the owner that it counts for.
   */
  async of(client: string, { headers, owner }: SessionOwner, open: () => Promise<Session>): Promise<Session> {
    const known = this.#kept.use(client);
    if (known?.hasEnded) throw new UpstreamSessionEnded('the session had to end for other clients');
    const kept = known ?? { opened: open(), headers, usedAt: 0, session: null, hasEnded: false };
    kept.headers = headers;
    kept.usedAt = performance.now();
    if (known === undefined && !this.#kept.set(client, kept, owner, OPEN)) {
      this.#told(kept);
      throw new UpstreamSessionsFull('this client has more sessions than its share');
    }
    try {
      kept.session = await kept.opened;
      return kept.session;
    } catch (error) {
      if (this.#kept.get(client) === kept) this.#kept.delete(client);
      throw error;
    }
  }

  /** The upstream no longer knows the session. */
  forget(client: string, session: Session): void {
    if (this.#kept.get(client)?.session === session) this.#kept.delete(client);
  }

  /** Returns null if the client has no session. */
  opened(client: string): { readonly opened: Promise<Session>; readonly headers: HeaderList } | null {
    const kept = this.#kept.get(client);
    return kept === undefined || kept.hasEnded ? null : kept;
  }

  /** The client has ended its own. */
  end(client: string): void {
    const kept = this.#kept.get(client);
    this.#kept.delete(client);
    if (kept !== undefined) this.#told(kept);
  }

  #told({ opened, headers, hasEnded }: Kept): void {
    if (!hasEnded) opened.then((session) => this.#end(session, headers)).catch(() => {});
  }

  /** Ends sessions that clients no longer use. */
  sweep(): void {
    const before = performance.now() - UNUSED_MS;
    for (const [client, { usedAt }] of this.#kept) {
      if (usedAt >= before) return;
      this.end(client);
    }
  }

  endAll(): void {
    for (const [client] of [...this.#kept]) this.end(client);
  }
}
