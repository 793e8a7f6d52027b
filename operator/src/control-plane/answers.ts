/**
 * What of a control plane's answers reaches a status (docs/decisions.md#tenant-addresses): identifiers, hashes and
 * names that have the form of one. Whoever names an address may read the status, and need not be allowed to read what
 * answers there.
 */
import type { Deployment } from '@gw/control/client';

/** What is known of the latest deployment. */
export type LatestDeployment = Pick<Deployment, 'deployment_id' | 'artifact_hash' | 'kind' | 'created_by'> & {
  readonly artifact_id: string;
};

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const HASH = /^sha256:[0-9a-f]{64}$/;
const NAME = /^[A-Za-z0-9][A-Za-z0-9 ._:@+-]{0,127}$/;
const KINDS: ReadonlySet<string> = new Set<Deployment['kind']>(['deploy', 'rollback', 'automatic_rollback']);

/** The identifier. Throws where it is none. */
export function idOf(value: string): string {
  if (typeof value === 'string' && UUID.test(value)) return value;
  throw new Error('the server does not answer like a control plane: is it gw-control?');
}

/** A name as it may be shown; one that is none goes by a word for it. */
export function shownName(value: string): string {
  return typeof value === 'string' && NAME.test(value) ? value : 'something';
}

/** Throws where it is no deployment. */
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
    // Of the latest deployment it is never gone.
    artifact_id: idOf(artifact_id ?? ''),
    artifact_hash,
    kind,
    created_by: shownName(created_by),
  };
}
