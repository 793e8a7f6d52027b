/** Names of revoked tokens are free for others. */
import { type Kysely, sql } from 'kysely';

const STATEMENTS = [
  'ALTER TABLE api_tokens DROP CONSTRAINT api_tokens_name_unique',
  'CREATE UNIQUE INDEX api_tokens_name_unique ON api_tokens (name) WHERE revoked_at IS NULL',
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
