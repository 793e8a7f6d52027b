/** Writes what was decided: first what others need, then the status. */
import { messageOf } from '@gw/gateway/message-of';
import type { GatewayProjectStatus } from '../../api/gateway-project.ts';
import { configMaps, type GatewayProject, gatewayProjects } from '../../api/resources.ts';
import { isVital, ownedResources } from '../../objects/owned.ts';
import { conditions, type Verdict } from '../../runtime/conditions.ts';
import { type KubeObject, keyOf, type Resource } from '../../runtime/kube-object.ts';
import type { EventSink, Objects } from '../../runtime/objects.ts';
import { writeStatus } from '../status.ts';
import type { Decision } from './decide.ts';
import { type Conflict, fieldConflicts } from './field-conflicts.ts';

const RESOURCES: readonly Resource<KubeObject>[] = [configMaps, ...ownedResources];

function resourceOf(object: KubeObject): Resource<KubeObject> {
  const found = RESOURCES.find(({ apiVersion, kind }) => apiVersion === object.apiVersion && kind === object.kind);
  if (!found) throw new Error(`no resource for ${object.apiVersion} ${object.kind}`);
  return found;
}

/** An object that the API server refuses is told in the status, and tried again with back-off. */
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
      // What comes later may need what has failed: pods their ServiceAccount, all of them the artifact.
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
    events.record(project, { type: 'Warning', reason: 'ApplyFailed', action: 'Apply', note: message });
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

interface Failure {
  readonly error: unknown;
  readonly what: string;
  /** There is no gateway without it. */
  readonly vital: boolean;
}

/** The status with Ready taken back: pods serve what they should, only something around them is missing. */
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

/** The status with Programmed and Ready taken back: the revisions are those that were there before. */
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
