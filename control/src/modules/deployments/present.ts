/** Deployments as the REST API shows them. */
import type { Deployment, DeploymentTarget } from './schemas.ts';
import type { DeploymentRow, TargetRow } from './store.ts';

export function presentDeployment(row: DeploymentRow): Deployment {
  return {
    deployment_id: row.id,
    project_id: row.project_id,
    artifact_id: row.artifact_id,
    artifact_hash: row.artifact_hash,
    previous_artifact_id: row.previous_artifact_id,
    kind: row.kind,
    status: row.status,
    reason: row.reason,
    warning:
      row.failed_before === null ? null : `this artifact failed when it was deployed before: ${row.failed_before}`,
    target_data_planes: row.target_data_planes,
    applied: row.applied,
    refused: row.refused,
    waiting: row.waiting,
    rollback_of: row.rollback_of,
    created_by: row.created_by,
    created_at: row.created_at.toISOString(),
    completed_at: row.completed_at?.toISOString() ?? null,
  };
}

export function presentTarget({
  data_plane_id,
  name,
  status,
  reason,
  served_hash,
  updated_at,
}: TargetRow): DeploymentTarget {
  return { data_plane_id, name, status, reason, served_hash, updated_at: updated_at.toISOString() };
}
