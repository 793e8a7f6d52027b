/** Rows of artifacts. */
import { randomUUIDv7 } from 'node:crypto';
import { type Manifest, VERSION_FIELD } from '@gw/gateway/artifact';
import type { Kysely, Selectable } from 'kysely';
import type { BlobInfo } from '../../db/blobs.ts';
import type { ArtifactsTable, Schema } from '../../db/schema.ts';
import { readableJson } from '../../db/text.ts';
import { type Page, page } from '../../http/pagination.ts';
import type { ArtifactQuery } from './schemas.ts';

export type ArtifactRow = Selectable<ArtifactsTable>;
type Db = Kysely<Schema>;

export interface CompiledArtifact {
  readonly blob: BlobInfo;
  readonly manifest: Manifest;
  readonly of: Pick<ArtifactRow, 'project_id' | 'production' | 'created_by'>;
}

export interface StoredArtifact {
  readonly id: string;
  /** False if the row existed. */
  readonly isNew: boolean;
}

/**
 * Returns the artifact's row: the existing one if its project has the same content, built and signed in the same way.
 * The bytes may differ in the time of compilation; the first ones stay.
 */
export async function storeArtifact(db: Db, { blob, manifest, of }: CompiledArtifact): Promise<StoredArtifact> {
  const row = {
    project_id: of.project_id,
    artifact_hash: manifest.artifact_hash,
    production: of.production,
    artifact_version: manifest[VERSION_FIELD],
    signed_by: manifest.signing_public_key ?? null,
  };
  const inserted = await db
    .insertInto('artifacts')
    .values({
      ...row,
      id: randomUUIDv7(),
      file_sha256: blob.sha256,
      size: blob.size,
      manifest: readableJson(manifest),
      compiler_version: manifest.compiler_version,
      created_by: of.created_by,
    })
    .onConflict((conflict) => conflict.constraint('artifacts_content_unique').doNothing())
    .returning('id')
    .executeTakeFirst();
  if (inserted) return { id: inserted.id, isNew: true };
  // Compiled again: its retention time restarts.
  const found = await db
    .updateTable('artifacts')
    .set({ unneeded_since: null })
    .where('project_id', 'is not distinct from', row.project_id)
    .where('artifact_hash', '=', row.artifact_hash)
    .where('production', '=', row.production)
    .where('artifact_version', '=', row.artifact_version)
    .where('signed_by', 'is not distinct from', row.signed_by)
    // Which also locks it: it may not be deleted before this transaction refers to it.
    .returning('id')
    .executeTakeFirstOrThrow();
  return { id: found.id, isNew: false };
}

export function findArtifact(db: Db, id: string): Promise<ArtifactRow | undefined> {
  return db.selectFrom('artifacts').selectAll().where('id', '=', id).executeTakeFirst();
}

/** Returns the place of its bytes and the name of its project, without its manifest, which can be large. */
export function findArtifactFile(db: Db, id: string) {
  return db
    .selectFrom('artifacts')
    .leftJoin('projects', 'projects.id', 'artifacts.project_id')
    .select(['artifacts.project_id', 'artifact_hash', 'file_sha256', 'size', 'projects.name as project_name'])
    .where('artifacts.id', '=', id)
    .executeTakeFirst();
}

export function lockArtifact(db: Db, id: string): Promise<ArtifactRow | undefined> {
  return db.selectFrom('artifacts').selectAll().where('id', '=', id).forUpdate().executeTakeFirst();
}

/** `projectId`: only those of this project; null: all. */
export function listArtifacts(
  db: Db,
  projectId: string | null,
  { artifact_hash, ...at }: ArtifactQuery,
): Promise<Page<ArtifactRow>> {
  let query = db.selectFrom('artifacts').selectAll();
  if (projectId !== null) query = query.where('project_id', '=', projectId);
  if (artifact_hash !== undefined) query = query.where('artifact_hash', '=', artifact_hash);
  return page(query, at, {
    columns: { created_at: { column: 'created_at', value: (row) => row.created_at.toISOString() } },
    standard: '-created_at',
    id: { column: 'id', value: (row) => row.id },
  });
}

/** Reports whether any deployment, past or present, refers to it. */
export async function wasDeployed(db: Db, id: string): Promise<boolean> {
  const found = await db
    .selectFrom('deployments')
    .select('id')
    .where(({ or, eb }) => or([eb('artifact_id', '=', id), eb('previous_artifact_id', '=', id)]))
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}

export async function deleteArtifact(db: Db, id: string): Promise<void> {
  await db.deleteFrom('artifacts').where('id', '=', id).execute();
}
