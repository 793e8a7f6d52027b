/**
 * Documents are called by their spec, not by the file that was uploaded (docs/decisions.md#spec-name-rules): projects
 * that compile no more compile again.
 */
import { type Kysely, sql } from 'kysely';

const STATEMENT = String.raw`
UPDATE spec_revisions
SET entry = specs.name || coalesce(substring(spec_revisions.filename from '(?i)\.(?:ya?ml|json)$'), '.yaml')
FROM specs
WHERE specs.id = spec_revisions.spec_id AND spec_revisions.form = 'document'`;

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(STATEMENT).execute(db);
}
