/** The desired objects of a project, and the problems that prevent them. Pure. */

import type { Refusal } from '../../api/refusal.ts';
import type { KubeObject } from '../../kube/kube-object.ts';
import { gatewayName } from '../../objects/names.ts';
import { type OwnedContext, ownedObjects } from '../../objects/owned.ts';
import { podRefusal } from '../../objects/pod-template.ts';
import { handedOver } from '../../objects/replicas.ts';
import type { Verdict } from '../../runtime/conditions.ts';
import type { Observed } from './observe.ts';
import type { Rollout } from './rollout/decide.ts';
import { certificateChanges, certificateVerdict } from './secrets/decide-certificate.ts';

/** Interval in milliseconds at which Secrets of pods are read, since they cannot be watched; missing ones oftener. */
const SECRETS_MS = 60_000;
const MISSING_MS = 10_000;
/** Interval in milliseconds at which missing or forbidden kinds are checked. */
const KINDS_MS = 30_000;

export interface ObjectsDecision {
  /** Applied before the others under a manager of its own, since the operator ceases to set these fields. */
  readonly handOver?: KubeObject;
  /** Objects to apply, in this order. */
  readonly apply: readonly KubeObject[];
  readonly remove: readonly KubeObject[];
  readonly problems: readonly Refusal[];
  /** Verdicts on features that only some projects have. */
  readonly verdicts: readonly Verdict[];
  /** Milliseconds after which to check again; undefined: never because of these. */
  readonly requeueAfterMs?: number;
}

/** Returns the context that objects are built from, without the rollout: `settings` and the observed state. */
export function ownedContext(
  { trustedKeys, secrets, workload, registry }: Observed,
  settings: Pick<
    OwnedContext,
    'image' | 'policy' | 'operatorNamespace' | 'drainDelay' | 'autoscales' | 'egressAllow' | 'link'
  >,
): OwnedContext {
  return {
    ...settings,
    trustedKeys,
    ...(registry?.imageVolumes ? { imageVolumes: true } : {}),
    ...(secrets.version ? { secretsVersion: secrets.version } : {}),
    ...(workload ? { running: workload } : {}),
  };
}

type ObservedObjects = Pick<
  Observed,
  | 'project'
  | 'workload'
  | 'secrets'
  | 'keyProblems'
  | 'owned'
  | 'foreign'
  | 'taken'
  | 'notInstalled'
  | 'notAllowed'
  | 'turn'
>;

/** `given`: the result of `ownedContext`. */
export function decideObjects(
  observed: ObservedObjects,
  { template: revision, canary, outdated }: Pick<Rollout, 'template' | 'canary' | 'outdated'>,
  given: OwnedContext,
  now: Date,
): ObjectsDecision {
  const { project, workload, secrets, foreign, taken, notInstalled, notAllowed, turn } = observed;
  const waits = outdated && turn?.taken !== true;
  const context: OwnedContext = {
    ...given,
    ...(revision ? { revision } : {}),
    ...(canary ? { canary } : {}),
    ...(outdated ? { update: true } : {}),
  };
  const refused = revision && podRefusal(project, revision, context);
  const podProblems: Refusal[] = [
    ...secrets.problems,
    ...observed.keyProblems,
    ...(refused ? [{ reason: 'InvalidSpec', message: refused } as const] : []),
  ];
  const { apply, remove } = ownedObjects(project, context, observed.owned);
  // Pods that could not start, or could not load their artifact, are not made: running pods keep serving.
  const held = ({ kind }: KubeObject) => kind === 'Deployment' && podProblems.length > 0;
  // Pods of an older operator keep serving until it is their turn.
  const early = ({ kind, metadata }: KubeObject) =>
    waits && kind === 'Deployment' && metadata.name === gatewayName(project);
  const unavailable = [...notInstalled, ...notAllowed];
  const impossible = ({ kind, metadata }: KubeObject) =>
    unavailable.some((resource) => resource.kind === kind) ||
    taken.some((object) => object.kind === kind && object.metadata.name === metadata.name);
  const handOver = given.autoscales === false ? undefined : handedOver(project, workload);
  const { certificate } = secrets;
  const requeueAfterMs = Math.min(
    podProblems.length > 0 ? MISSING_MS : secrets.named ? SECRETS_MS : Number.POSITIVE_INFINITY,
    unavailable.length > 0 ? KINDS_MS : Number.POSITIVE_INFINITY,
    (certificate && certificateChanges(certificate, now)) ?? Number.POSITIVE_INFINITY,
  );
  return {
    ...(handOver && podProblems.length === 0 && !waits ? { handOver } : {}),
    apply: foreign.length > 0 ? [] : apply.filter((object) => !held(object) && !early(object) && !impossible(object)),
    remove: remove.filter((object) => !held(object)),
    problems: [...podProblems, ...taken.map(conflict), ...notInstalled.map(absent), ...notAllowed.map(forbidden)],
    verdicts: certificate ? [certificateVerdict(certificate, now)] : [],
    ...(Number.isFinite(requeueAfterMs) ? { requeueAfterMs } : {}),
  };
}

function conflict({ kind, metadata }: KubeObject): Refusal {
  const message = `${kind} "${metadata.name}" exists and does not belong to this GatewayProject`;
  return { reason: 'Conflict', message };
}

function absent({ kind, apiVersion }: Observed['notInstalled'][number]): Refusal {
  return { reason: 'ApiNotInstalled', message: `the cluster has no kind ${kind} of ${apiVersion}` };
}

function forbidden({ plural, apiVersion }: Observed['notAllowed'][number]): Refusal {
  const [group] = apiVersion.split('/');
  return { reason: 'ApiNotAllowed', message: `the operator's role does not let it list ${plural}.${group}` };
}
