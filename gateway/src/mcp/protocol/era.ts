/** Revisions of the Model Context Protocol that are spoken here (docs/mcp.md#revisions). */

/** Revisions up to 2025-11-25 begin with `initialize` and have sessions; from 2026-07-28 on each request says all. */
export type Era = 'sessions' | 'stateless';

/** The newest first. */
export const SESSION_REVISIONS: readonly string[] = ['2025-11-25', '2025-06-18'];
export const STATELESS_REVISIONS: readonly string[] = ['2026-07-28'];

/** The header that names a session. */
export const SESSION = 'mcp-session-id';
