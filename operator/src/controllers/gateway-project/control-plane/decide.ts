/** A project at its control plane: requests to it, the artifact that pods serve by it, and its status. Pure. */
import { posix } from 'node:path';
import type { ControlPlaneStatus } from '../../../api/control-plane.ts';
import type { Revision } from '../../../api/gateway-project.ts';
import type { Read } from '../../../api/refusal.ts';
import type { Deployment, GatewayProject } from '../../../api/resources.ts';
import type { LatestDeployment } from '../../../control-plane/answers.ts';
import type { Access } from '../../../control-plane/connection.ts';
import type { Seen } from '../../../control-plane/mirror.ts';
import type { Link } from '../../../objects/link.ts';
import type { Verdict } from '../../../runtime/conditions.ts';

export interface ObservedControlPlane {
  /** Credentials from the named Secret; `hasKey`: it has the data-plane key of the project. */
  readonly secret: Read<{ readonly name: string; readonly access: Access; readonly hasKey: boolean }>;
  /** Undefined before the first answer. */
  readonly seen?: Seen;
}

/** The artifact that pods serve: a revision of the cluster, or one that was deployed at the control plane. */
export interface Served {
  readonly artifactHash: string;
  /** Undefined if the cluster does not keep the revision. */
  readonly revision?: number;
}

/** The deployment that the cluster requests from its control plane. */
export interface DesiredDeployment {
  readonly revision: Revision;
  /** Tells the request from others: see `describeDesired`. */
  readonly by: string;
}

/** Something else than the cluster asked for last is deployed there. */
export interface ExternalDeployment {
  readonly artifactHash: string;
  readonly by: string;
  readonly message: string;
  /** The control plane itself rolled back, since too many data planes refused the deployment. */
  readonly wentBack?: true;
}

type Linked = NonNullable<ControlPlaneStatus['linked']> & { readonly url: string; readonly secret: string };

export const DATA_PLANE_KEY = 'data-plane-key';
export const CA_KEY = 'ca.crt';

/** Returns `NAMESPACE.NAME`, unless the project sets a name. */
export function projectName({ metadata, spec }: GatewayProject): string {
  const name = spec.controlPlane?.project ?? `${metadata.namespace ?? 'default'}.${metadata.name}`;
  // Maximum length of names there.
  return name.slice(0, 63).replace(/[^A-Za-z0-9]+$/, '');
}

/** Names the request: equal only for the same revision and the same requester. */
export function describeDesired(
  { revision, artifactHash, signedBy }: Revision,
  asking: Deployment | undefined,
): string {
  const what = `revision ${revision} (${artifactHash}${signedBy ? `, signed by ${signedBy}` : ''})`;
  if (!asking) return what;
  const { name, uid, generation } = asking.metadata;
  return `${what} by Deployment ${name} ${uid}/${generation}`;
}

/** Reports whether the last request is the Deployment's; a later deployment replaces it. */
export function wasAskedBy(status: ControlPlaneStatus | undefined, { metadata }: Deployment): boolean {
  return status?.asked?.by.endsWith(` by Deployment ${metadata.name} ${metadata.uid}/${metadata.generation}`) ?? false;
}

/** Returns the state that the status keeps, for a new mirror. */
export function remembered(status: ControlPlaneStatus | undefined): Seen {
  const { projectId, synced, asked } = status ?? {};
  return {
    ...(projectId === undefined ? {} : { projectId }),
    ...(synced === undefined ? {} : { synced }),
    ...(asked === undefined ? {} : { asked }),
    drift: status?.drift ?? [],
  };
}

/**
 * Returns the deployment to serve if somebody deployed another artifact after the cluster's last request: the last
 * deployment counts until the cluster requests another. `desired`: the cluster's request now.
 */
export function externalDeployment(
  desired: string | undefined,
  { seen }: ObservedControlPlane,
  before: ControlPlaneStatus | undefined,
  wanted: string | undefined,
): ExternalDeployment | undefined {
  const { asked, latest } = seen ?? remembered(before);
  if (desired === undefined || asked?.by !== desired) return undefined;
  if (latest === undefined) return fromBefore(before, wanted);
  if (latest === null || latest.deployment_id === asked.deploymentId || latest.artifact_hash === wanted)
    return undefined;
  return {
    artifactHash: latest.artifact_hash,
    by: latest.created_by,
    message: deployedBy(latest),
    ...(latest.kind === 'automatic_rollback' ? { wentBack: true } : {}),
  };
}

/** Returns the last known state, which holds until the control plane answers again. */
function fromBefore(
  before: ControlPlaneStatus | undefined,
  wanted: string | undefined,
): ExternalDeployment | undefined {
  const { deployed, deployedBy: by } = before ?? {};
  if (deployed === undefined || by === undefined || by === OPERATOR || deployed === wanted) return undefined;
  return { artifactHash: deployed, by, message: `${by} deployed ${deployed} at the control plane` };
}

function deployedBy({ artifact_hash, kind, created_by }: LatestDeployment): string {
  if (kind === 'automatic_rollback')
    return `the control plane rolled back to ${artifact_hash}: too many data planes rejected what was deployed`;
  return `${created_by} ${kind === 'rollback' ? 'rolled back to' : 'deployed'} ${artifact_hash} at the control plane`;
}

const OPERATOR = 'operator';

/** Returns the link of pods; undefined until the project exists there and pods have a key for it. */
export function linkAt(project: GatewayProject, observed: ObservedControlPlane): Link | undefined {
  const { spec, status } = project;
  const { seen } = observed;
  const { controlPlane } = spec;
  const projectId = seen?.projectId ?? status?.controlPlane?.projectId;
  if (!controlPlane || projectId === undefined) return undefined;
  const linked = linkedBy(project, observed);
  if (!linked) return undefined;
  return {
    url: channelUrl(linked.url),
    projectId,
    credential: {
      kind: 'secret',
      name: linked.secret,
      key: DATA_PLANE_KEY,
      ...(linked.privateCa ? { ca: CA_KEY } : {}),
    },
  };
}

/**
 * Returns the source of the pods' artifacts, and its Secret. A Secret that is missing for a while leaves pods their
 * link: otherwise all would be replaced. Pods do not send a Secret to another address than it allows
 * (docs/decisions.md#secret-names-hosts).
 */
function linkedBy(project: GatewayProject, { secret }: ObservedControlPlane): Linked | undefined {
  const before = linkedBefore(project);
  if (!secret.ok || (!secret.hasKey && before)) return before;
  if (!secret.hasKey) return undefined;
  const { url, ca } = secret.access;
  return { privateCa: ca !== undefined, url, secret: secret.name };
}

/**
 * Returns the link from the status. A status of an older operator does not name it: the spec does, unless it has
 * changed since; then the link is unknown, and pods are linked to no other address.
 */
function linkedBefore({ metadata, spec, status }: GatewayProject): Linked | undefined {
  const { linked } = status?.controlPlane ?? {};
  if (!linked || !spec.controlPlane) return undefined;
  const { url, secret } = linked;
  if (url !== undefined && secret !== undefined) return { ...linked, url, secret };
  if (status?.observedGeneration !== metadata.generation) return undefined;
  return { ...linked, url: spec.controlPlane.url, secret: spec.controlPlane.secret };
}

function channelUrl(url: string): string {
  const channel = new URL(url);
  channel.protocol = channel.protocol === 'http:' ? 'ws:' : 'wss:';
  channel.pathname = posix.join(channel.pathname, '/ws/data-plane');
  return channel.href;
}

export function controlPlaneStatus(project: GatewayProject, observed: ObservedControlPlane): ControlPlaneStatus {
  const before = project.status?.controlPlane;
  const { projectId, synced, asked, latest, drift } = observed.seen ?? remembered(before);
  const linked = linkedBy(project, observed);
  const ours = latest && latest.deployment_id === asked?.deploymentId && !asked.found;
  const deployed =
    latest === undefined
      ? { deployed: before?.deployed, deployedBy: before?.deployedBy }
      : { deployed: latest?.artifact_hash, deployedBy: ours ? OPERATOR : latest?.created_by };
  return {
    ...(projectId === undefined ? {} : { projectId }),
    ...(synced === undefined ? {} : { synced }),
    ...(asked === undefined ? {} : { asked }),
    ...(linked ? { linked } : {}),
    ...(deployed.deployed === undefined ? {} : { deployed: deployed.deployed }),
    ...(deployed.deployedBy === undefined ? {} : { deployedBy: deployed.deployedBy }),
    ...(drift.length > 0 ? { drift } : {}),
  };
}

/** `newest`: artifact_hash of the newest revision. */
export function syncedVerdict(
  { spec }: GatewayProject,
  { secret, seen }: ObservedControlPlane,
  newest: string | undefined,
): Verdict {
  const verdict = (status: Verdict['status'], reason: Verdict['reason'], message: string): Verdict => ({
    type: 'Synced',
    status,
    reason,
    message,
  });
  if (!secret.ok) return verdict('False', secret.reason, secret.message);
  const { problem, synced, drift, projectId } = seen ?? { drift: [] };
  if (problem?.kind === 'away')
    return verdict(
      'Unknown',
      'ControlPlaneAway',
      `${problem.message}; pods keep serving what they have, and the operator retries`,
    );
  if (problem?.kind === 'forbidden') return verdict('False', 'AddressNotAllowed', problem.message);
  if (problem?.kind === 'taken') return verdict('False', 'Conflict', problem.message);
  if (problem) return verdict('False', 'ControlPlaneRefused', problem.message);
  if (!secret.hasKey) {
    const make = projectId === undefined ? '' : ` (gw-control api-keys create NAME --project ${projectId})`;
    const message = `Secret "${spec.controlPlane?.secret}" has no key "${DATA_PLANE_KEY}": create one${make}, and add it to the Secret`;
    return verdict('False', 'DataPlaneKeyMissing', message);
  }
  if (seen === undefined || newest === undefined || synced !== newest)
    return verdict('Unknown', 'Syncing', 'what the cluster has is being sent');
  if (drift.length > 0) return verdict('False', 'Drifted', `${drift.length} difference(s): ${drift[0]}`);
  return verdict('True', 'Synced', `the control plane has ${synced} and its sources`);
}
