/** A project at the control plane that it names: what is asked of it, what pods serve by it, what its status says. Pure. */
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
  /** From the Secret that is named; `hasKey`: with the data-plane key of the project. */
  readonly secret: Read<{ readonly name: string; readonly access: Access; readonly hasKey: boolean }>;
  /** Undefined until it has been asked for the first time. */
  readonly seen?: Seen;
}

/** The artifact that pods serve: a revision of the cluster, or one that was deployed at the control plane. */
export interface Served {
  readonly artifactHash: string;
  /** Undefined for what the cluster does not keep. */
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
  /** The control plane itself went back, since too many data planes refused what was deployed. */
  readonly wentBack?: true;
}

type Linked = NonNullable<ControlPlaneStatus['linked']> & { readonly url: string; readonly secret: string };

export const DATA_PLANE_KEY = 'data-plane-key';
export const CA_KEY = 'ca.crt';

/** `NAMESPACE.NAME`, where the project says nothing else. */
export function projectName({ metadata, spec }: GatewayProject): string {
  const name = spec.controlPlane?.project ?? `${metadata.namespace ?? 'default'}.${metadata.name}`;
  // As long as names there may be.
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

/** Whether what was asked for last is what the Deployment asked for: what was deployed since has taken its place. */
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

/** Until it answers again, what it said last holds. */
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

/** How pods reach it; undefined until the project is there and they have a key for it. */
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
 * Where pods get their artifacts, and with which Secret. A Secret that is gone for a while takes no pod its link: all
 * of them would be replaced. Nor is one that may not be sent to another address sent there by pods
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
 * As the status says. One of before it said where names what the spec does, unless that has changed since: then nobody
 * knows any more to what pods were linked, and they are to no other address.
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
