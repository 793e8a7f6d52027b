/** Plugins that are bound to operations beside the document (docs/decisions.md#kept-bindings). */
import { type Kysely, sql } from 'kysely';

/** Note on revisions that a patch made before bindings were stored. */
const NOTE =
  'A patch made this revision before bindings were stored separately: its bindings are part of the document, and an upload without them removes them.';

const STATEMENTS = [
  `CREATE TABLE spec_bindings (
    id uuid PRIMARY KEY,
    spec_id uuid NOT NULL REFERENCES specs ON DELETE CASCADE,
    place text NOT NULL,
    binding text NOT NULL,
    state text NOT NULL CHECK (state IN ('applied', 'conflict', 'lost')),
    reason text,
    created_by text NOT NULL,
    created_at timestamptz(3) NOT NULL DEFAULT now()
  )`,
  'CREATE INDEX spec_bindings_spec ON spec_bindings (spec_id)',
  'ALTER TABLE spec_revisions ADD COLUMN document_sha256 text REFERENCES blobs',
  'UPDATE spec_revisions SET document_sha256 = sha256',
  'ALTER TABLE spec_revisions ALTER COLUMN document_sha256 SET NOT NULL',
  'CREATE INDEX spec_revisions_document ON spec_revisions (document_sha256)',
  'ALTER TABLE spec_revisions ADD COLUMN note text',
  `UPDATE spec_revisions SET note = '${NOTE}' WHERE EXISTS (
    SELECT FROM audit_entries
    WHERE action = 'specs.updateOperations' AND resource_type = 'spec'
      AND resource_id = spec_revisions.spec_id::text AND after ->> 'revision' = spec_revisions.revision::text
  )`,
];

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}
