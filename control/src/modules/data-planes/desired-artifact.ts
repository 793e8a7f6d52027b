/** The artifact that the data planes of a project should serve, from the database. */
import type { Kysely } from 'kysely';
import type { DesiredArtifact } from '../../channel/index.ts';
import type { Schema } from '../../db/schema.ts';

/** Returns null before the first deployment, and for a deleted project. */
export async function desiredArtifactOf(db: Kysely<Schema>, projectId: string): Promise<DesiredArtifact | null> {
  const row = await db
    .selectFrom('projects')
    .innerJoin('artifacts', 'artifacts.id', 'projects.deployed_artifact_id')
    .select(({ selectFrom }) => [
      'artifacts.id',
      'artifacts.artifact_hash',
      'artifacts.file_sha256',
      'artifacts.size',
      'artifacts.artifact_version',
      selectFrom('deployments')
        .select('deployments.id')
        .whereRef('deployments.project_id', '=', 'projects.id')
        .whereRef('deployments.artifact_id', '=', 'artifacts.id')
        .orderBy('deployments.created_at', 'desc')
        .orderBy('deployments.id', 'desc')
        .limit(1)
        .as('deployment_id'),
    ])
    .where('projects.id', '=', projectId)
    .executeTakeFirst();
  if (!row) return null;
  return {
    deployment_id: row.deployment_id,
    artifact_id: row.id,
    artifact_hash: row.artifact_hash,
    sha256: `sha256:${row.file_sha256}`,
    size: row.size,
    path: `/artifacts/${row.id}/download`,
    artifact_version: row.artifact_version,
  };
}
