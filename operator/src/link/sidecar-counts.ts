import type { DataPlane } from '@gw/control/channel';
import type { GatewayProject } from '../api/resources.ts';

/** Maximum number of hashes in a status. */
const MOST_HASHES = 20;

/** Counts artifacts of connected sidecars, most frequent first. Pure. */
export function sidecarCounts(
  planes: readonly Pick<DataPlane, 'artifactHash'>[],
): NonNullable<NonNullable<GatewayProject['status']>['sidecars']> {
  const counts = new Map<string | null, number>();
  for (const { artifactHash } of planes) counts.set(artifactHash, (counts.get(artifactHash) ?? 0) + 1);
  const byHash = [...counts]
    .map(([artifactHash, count]) => ({ ...(artifactHash === null ? {} : { artifactHash }), count }))
    .toSorted((a, b) => b.count - a.count || (a.artifactHash ?? '').localeCompare(b.artifactHash ?? ''))
    .slice(0, MOST_HASHES);
  return { connected: planes.length, byHash };
}
