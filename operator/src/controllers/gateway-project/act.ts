/**
 * All effects of a reconcile: objects in order of dependency, then the status; registry, control plane and data planes.
 */
import type { Project } from '@gw/gateway/compiler';
import { messageOf } from '@gw/gateway/message-of';
import type { GatewayProjectStatus } from '../../api/gateway-project.ts';
import { configMaps, type GatewayProject, gatewayProjects } from '../../api/resources.ts';
import type { ControlPlanes } from '../../control-plane/control-planes.ts';
import { type KubeObject, keyOf, type Resource } from '../../kube/kube-object.ts';
import { isVital, ownedResources } from '../../objects/owned.ts';
import { conditions, type Verdict } from '../../runtime/conditions.ts';
import { eventOf } from '../../runtime/event-of.ts';
import type { EventSink, Objects } from '../../runtime/objects.ts';
import type { ImageStore } from '../../storage/image-store.ts';
import { writeStatus } from '../status/write-status.ts';
import { remembered } from './control-plane/decide.ts';
import { type ArchiveReader, desiredAtControlPlane } from './control-plane/desired-deployment.ts';
import type { Decision } from './decide.ts';
import { type Conflict, fieldConflicts } from './field-conflicts.ts';
import type { Observed } from './observe.ts';
import type { KeptConnections } from './rollout/kept-connections.ts';
import type { ProjectLink } from './rollout/observe.ts';
import type { Compilation } from './sources/compilation.ts';
import { wantsImage } from './storage/decide.ts';
import type { Registries } from './storage/observe.ts';
import type { ObservedStorage } from './storage/observed.ts';

const RESOURCES: readonly Resource<KubeObject>[] = [configMaps, ...ownedResources];

function resourceOf(object: KubeObject): Resource<KubeObject> {
  const found = RESOURCES.find(({ apiVersion, kind }) => apiVersion === object.apiVersion && kind === object.kind);
  if (!found) throw new Error(`no resource for ${object.apiVersion} ${object.kind}`);
  return found;
}

/** Milliseconds after which to check a push again. */
const PUSHING_MS = 1000;
const FAILED_MS = 10_000;

/** Applies the decision. An object that the API server refuses is reported in the status, and retried with back-off. */
export async function act(
  objects: Objects,
  events: EventSink,
  project: GatewayProject,
  decision: Decision,
): Promise<void> {
  const failures: Failure[] = [];
  const conflicts: Conflict[] = [];
  if (decision.handOver) await objects.handOver(resourceOf(decision.handOver), decision.handOver);
  for (const object of [...decision.parts, ...decision.apply]) {
    try {
      const conflict = await objects.apply(resourceOf(object), object);
      if (conflict) conflicts.push({ object, conflict });
    } catch (error) {
      const vital = decision.parts.includes(object) || isVital(project, object);
      failures.push({ error, what: `${object.kind} "${object.metadata.name}"`, vital });
      // Later objects may depend on the failed one: pods need their ServiceAccount, all need the artifact.
      if (vital) break;
    }
  }
  const failure = failures.find(({ vital }) => vital) ?? failures[0];
  if (failure) {
    const message = `${failure.what} cannot be written: ${messageOf(failure.error)}`;
    const status = failure.vital
      ? withFailure(project, decision.status, message, new Date())
      : notReady(project, decision.status, message, new Date());
    await writeStatus(objects, gatewayProjects, project, status);
    events.record(project, eventOf('ApplyFailed', 'Apply', message));
    throw failure.error;
  }
  for (const object of decision.remove) await objects.remove(resourceOf(object), keyOf(object), object.metadata.uid);
  const told = fieldConflicts(project, conflicts, new Date());
  const before = decision.status.conditions ?? [];
  const stalled = await writeStatus(objects, gatewayProjects, project, {
    ...decision.status,
    conditions: [...before, ...told.conditions],
  });
  for (const event of [...told.events, ...decision.events, ...stalled]) events.record(project, event);
}

/** Pushes the artifact to the registry if the project stores it there, and adds the state of the push. */
export async function push<T extends ObservedStorage>(
  images: ImageStore,
  observed: T,
  compilation: Compilation | undefined,
): Promise<T> {
  const { project, registry } = observed;
  if (!registry || !wantsImage(observed, compilation)) {
    images.settle(project);
    return observed;
  }
  const image = await images.store(project, compilation);
  const requeueAfterMs = { pushing: PUSHING_MS, failed: FAILED_MS, stored: undefined }[image.state];
  return { ...observed, registry: { ...registry, image, ...(requeueAfterMs ? { requeueAfterMs } : {}) } };
}

/**
 * Removes tampered objects. The next reconcile creates them again if the project compiles; else the status reports the
 * loss.
 */
export async function removeTampered(
  objects: Objects,
  events: EventSink,
  project: GatewayProject,
  tampered: readonly KubeObject[],
): Promise<void> {
  for (const part of tampered) {
    await objects.remove(configMaps, keyOf(part), part.metadata.uid);
    const note = `ConfigMap "${part.metadata.name}" did not hold the artifact that its name and annotations state, and no pod would have started with it: it is recreated`;
    events.record(project, eventOf('ArtifactExchanged', 'Store', note));
  }
}

export interface TellWith {
  /** Absent in local mode, which has no registries. */
  readonly registries?: Registries;
  /** Absent in local mode, which has a control plane of its own. */
  readonly controlPlanes?: ControlPlanes;
  readonly readArchive?: ArchiveReader;
  /** Absent in local mode, which has no canaries. */
  readonly keptConnections?: KeptConnections;
  readonly link?: ProjectLink;
}

/** Informs registry, control plane and data planes of the decision, once it is in the status. */
export function tell(
  { registries, controlPlanes, readArchive, keptConnections, link }: TellWith,
  observed: Observed,
  compiled: { readonly compilation: Compilation | undefined; readonly inputs: Project | undefined },
  decision: Decision,
): void {
  const { project } = observed;
  registries?.images.forget(project, decision.forget);
  const desired = desiredAtControlPlane(observed, compiled, decision.desiredDeployment, readArchive);
  if (desired) controlPlanes?.desire(keyOf(project), desired, remembered(project.status?.controlPlane));
  else controlPlanes?.forget(keyOf(project));
  const decided = { ...project, status: decision.status };
  keptConnections?.at(decided, observed.pods, Date.now());
  link?.decided(decided, compiled.compilation);
}

interface Failure {
  readonly error: unknown;
  readonly what: string;
  /** The gateway cannot exist without the object. */
  readonly vital: boolean;
}

/** Returns the status with Ready false: pods serve the right artifact, but an object around them is missing. */
function notReady(
  project: GatewayProject,
  decided: GatewayProjectStatus,
  message: string,
  now: Date,
): GatewayProjectStatus {
  const verdict: Verdict = { type: 'Ready', status: 'False', reason: 'ApplyFailed', message };
  return {
    ...decided,
    conditions: [
      ...(decided.conditions ?? []).filter(({ type }) => type !== 'Ready'),
      ...conditions([verdict], project.status?.conditions, project.metadata.generation, now),
    ],
  };
}

/** Returns the status with Programmed and Ready false, and the revisions from before. */
function withFailure(
  project: GatewayProject,
  decided: GatewayProjectStatus,
  message: string,
  now: Date,
): GatewayProjectStatus {
  const failed = new Set(['Stored', 'Programmed', 'Ready']);
  const verdicts: Verdict[] = [
    { type: 'Programmed', status: 'False', reason: 'ApplyFailed', message },
    { type: 'Ready', status: 'False', reason: 'NotReady', message: `Programmed: ${message}` },
  ];
  const before = project.status;
  const stored = before?.conditions?.filter(({ type }) => type === 'Stored') ?? [];
  const { revisions: _, revision: _r, artifactHash: _h, latestRevision: _l, ...rest } = decided;
  return {
    ...rest,
    ...(before?.revisions ? { revisions: before.revisions } : {}),
    ...(before?.revision ? { revision: before.revision } : {}),
    ...(before?.artifactHash ? { artifactHash: before.artifactHash } : {}),
    ...(before?.latestRevision ? { latestRevision: before.latestRevision } : {}),
    conditions: [
      ...(decided.conditions ?? []).filter(({ type }) => !failed.has(type)),
      ...stored,
      ...conditions(verdicts, before?.conditions, project.metadata.generation, now),
    ],
  };
}
