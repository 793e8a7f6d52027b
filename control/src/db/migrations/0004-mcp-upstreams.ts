/** Upstream MCP servers of projects (docs/mcp.md#upstreams). */
import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(`ALTER TABLE projects ADD COLUMN mcp jsonb NOT NULL DEFAULT '{}'`).execute(db);
}
