/** A data plane in the form of the REST API. */
import type { DataPlane } from './schemas.ts';
import type { DataPlaneRow } from './store.ts';

export function presentDataPlane(row: DataPlaneRow): DataPlane {
  return {
    id: row.id,
    name: row.name,
    status: row.status,
    current_artifact_id: row.current_artifact_id,
    current_artifact_hash: row.current_hash,
    drift_detected: row.drift_detected,
    gw_version: row.gw_version,
    api_key_id: row.api_key_id,
    address: row.address,
    connected_at: row.connected_at?.toISOString() ?? null,
    disconnected_at: row.disconnected_at?.toISOString() ?? null,
    last_seen_at: row.last_seen_at?.toISOString() ?? null,
  };
}
