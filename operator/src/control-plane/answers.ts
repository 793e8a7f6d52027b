/**
 * The parts of a control plane's answers that reach a status (docs/decisions.md#tenant-addresses): identifiers, hashes
 * and valid names. The user who names an address may read the status, but may not be allowed to read the answers from
 * that address.
 */
import type { Deployment } from '@gw/control/client';

/** Fields of the latest deployment. */
export type LatestDeployment = Pick<Deployment, 'deployment_id' | 'artifact_hash' | 'kind' | 'created_by'> & {
  readonly artifact_id: string;
};

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const HASH = /^sha256:[0-9a-f]{64}$/;
const NAME = /^[A-Za-z0-9][A-Za-z0-9 ._:@+-]{0,127}$/;
const KINDS: ReadonlySet<string> = new Set<Deployment['kind']>(['deploy', 'rollback', 'automatic_rollback']);

/** Returns the identifier. Throws if the value is not a UUID. */
export function idOf(value: string): string {
  if (typeof value === 'string' && UUID.test(value)) return value;
  throw new Error('the server does not answer like a control plane: is it gw-control?');
}

/** Returns a name that is safe to show; a placeholder if the value is not a valid name. */
export function shownName(value: string): string {
  return typeof value === 'string' && NAME.test(value) ? value : 'something';
}

/** Returns the deployment. Throws if the value is not one. */
export function shownDeployment({
  deployment_id,
  artifact_id,
  artifact_hash,
  kind,
  created_by,
}: Deployment): LatestDeployment {
  if (!KINDS.has(kind) || !HASH.test(artifact_hash)) idOf('');
  return {
    deployment_id: idOf(deployment_id),
    // The latest deployment always has its artifact.
    artifact_id: idOf(artifact_id ?? ''),
    artifact_hash,
    kind,
    created_by: shownName(created_by),
  };
}
