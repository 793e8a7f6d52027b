/** The revision that a project's pods should serve, and the revisions to keep. Pure. */
import type { Revision } from '../../../api/gateway-project.ts';
import type { Deployment, GatewayProject } from '../../../api/resources.ts';

/**
 * Returns the Deployment in effect: the newest, by creation and then by name
 * (docs/decisions.md#newest-deployment-wins).
 */
export function activeDeployment(deployments: readonly Deployment[]): Deployment | undefined {
  const age = ({ metadata }: Deployment) => metadata.creationTimestamp ?? '';
  return deployments
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .toSorted((a, b) => age(b).localeCompare(age(a)) || b.metadata.name.localeCompare(a.metadata.name))[0];
}

/** Identifies a Deployment and its generation: see FailedRevision. */
export function deploymentId({ metadata }: Deployment): string {
  return `${metadata.uid}/${metadata.generation}`;
}

/** Returns the revision that a Deployment requests, undefined if it is not kept. */
export function requestedRevision(
  deployment: Deployment,
  revisions: readonly Revision[],
  latest: number | undefined,
): Revision | undefined {
  const { hash, revision } = deployment.spec.artifact;
  if (revision !== undefined) return revisions.find((kept) => kept.revision === revision);
  if (hash !== undefined) return revisions.find((kept) => kept.artifactHash === hash);
  return revisions.find((kept) => kept.revision === latest);
}

export interface Target {
  readonly revision?: Revision;
  /** A Deployment pins it to another artifact than the newest. */
  readonly pinned: boolean;
}

/**
 * Returns the revision to serve: the newest Deployment's, else the newest artifact's if deployment is automatic, else
 * the served one. A Deployment that requests a revision that is not kept changes nothing.
 */
export function target(
  project: GatewayProject,
  deployments: readonly Deployment[],
  revisions: readonly Revision[],
  latest: number | undefined,
  served: number | undefined,
): Target {
  const newest = revisions.find(({ revision }) => revision === latest);
  const current = revisions.find(({ revision }) => revision === served);
  const active = activeDeployment(deployments);
  if (active) {
    const wanted = requestedRevision(active, revisions, latest) ?? current;
    return { ...(wanted ? { revision: wanted } : {}), pinned: wanted?.revision !== latest };
  }
  const wanted = project.spec.autoDeploy ? newest : current;
  return { ...(wanted ? { revision: wanted } : {}), pinned: false };
}

/** Returns the revisions to delete: all but those in use and the newest `revisionHistoryLimit` of the others. */
export function obsolete(
  revisions: readonly Revision[],
  limit: number,
  inUse: readonly (number | undefined)[],
): readonly Revision[] {
  const others = revisions.filter(({ revision }) => !inUse.includes(revision));
  return others.toSorted((a, b) => b.revision - a.revision).slice(limit);
}
