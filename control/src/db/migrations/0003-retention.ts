/**
 * Columns for retention (docs/decisions.md#retention): the time since which nothing needs a row, and the hash in
 * deployments that outlive their artifact.
 */
import { type Kysely, sql } from 'kysely';

/** The times start empty: a sweep sets each when it first finds that nothing needs the row. */
const STATEMENTS = [
  'ALTER TABLE artifacts ADD COLUMN unneeded_since timestamptz(3)',
  'ALTER TABLE compilations ADD COLUMN unneeded_since timestamptz(3)',
  // Set when the artifact is deleted: until then the artifact has it.
  'ALTER TABLE deployments ADD COLUMN artifact_hash text',
  'ALTER TABLE deployments ALTER COLUMN artifact_id DROP NOT NULL',
  'ALTER TABLE deployments DROP CONSTRAINT deployments_artifact_id_fkey',
  `ALTER TABLE deployments ADD CONSTRAINT deployments_artifact
    FOREIGN KEY (artifact_id) REFERENCES artifacts ON DELETE SET NULL`,
  'ALTER TABLE deployments DROP CONSTRAINT deployments_previous_artifact_id_fkey',
  `ALTER TABLE deployments ADD CONSTRAINT deployments_previous_artifact
    FOREIGN KEY (previous_artifact_id) REFERENCES artifacts ON DELETE SET NULL`,
  'CREATE INDEX deployments_artifacts ON deployments (artifact_id)',
  'CREATE INDEX deployments_previous_artifacts ON deployments (previous_artifact_id)',
  'CREATE INDEX data_planes_artifacts ON data_planes (current_artifact_id)',
  'CREATE INDEX compilations_artifacts ON compilations (artifact_id)',
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
