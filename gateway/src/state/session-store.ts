/** The port behind which sessions of MCP clients are kept: in the process, shared between workers, or in Redis. */

import type { OwnerPath } from '../shares/owner-path.ts';

/** Seconds without a request after which a session has ended (docs/mcp.md#sessions). */
export const SESSION_SECONDS = 1800;
/** Sessions that a process keeps at once; a session costs some 400 bytes. */
export const MOST_SESSIONS = 50_000;

export interface OpenedSession {
  readonly id: string;
  /** Owner that it counts for: past the limit, the oldest session of the owner with most ends. */
  readonly owner: OwnerPath;
  /** The revision of the protocol that was agreed on. */
  readonly revision: string;
}

export interface SessionStore {
  open(session: OpenedSession): void | Promise<void>;
  /** Extends the session and returns its revision; null if it has ended, or never existed. */
  use(id: string): string | null | Promise<string | null>;
  /** Reports whether there was such a session. */
  end(id: string): boolean | Promise<boolean>;
}
