/**
 * The validating webhook on the four kinds: refuses objects that are invalid by themselves, warns of faults that depend
 * on others (docs/decisions.md#webhooks-refuse-alone).
 */
import { isDeepStrictEqual } from 'node:util';
import {
  type ApiSpec,
  apiSpecs,
  type Deployment,
  deployments,
  type GatewayProject,
  gatewayProjects,
  type PluginRef,
  pluginRefs,
} from '../api/resources.ts';
import { isRecord, type KubeObject, type Resource } from '../kube/kube-object.ts';
import type { PodPolicy } from '../objects/pod-policy.ts';
import type { AdmissionAnswer, AdmissionRequest } from './admission.ts';
import {
  type CrossFindingsWith,
  findingsOfDeployment,
  findingsOfPart,
  findingsOfProject,
  usersOf,
} from './cross-findings.ts';
import { documentFindings, findingLine, MAX_SHOWN } from './document-errors.ts';
import { ReviewTurns } from './review-turns.ts';
import { deploymentFaults, pluginRefFaults, projectFaults } from './spec-validation.ts';

export interface ReviewWith extends CrossFindingsWith {
  /** Image of pods if a project names none. */
  readonly image: string;
  /** How far projects may go with their pods. Default: DEFAULT_POD_POLICY. */
  readonly policy?: PodPolicy;
  /** Milliseconds for all of it; default 8,000, below the timeout of the webhook. */
  readonly deadlineMs?: number;
  /** Called for a check that failed internally: the object is admitted, and the controllers check it. */
  readonly onError: (error: unknown) => void;
}

interface Findings {
  /** Reasons to refuse it. */
  readonly faults: readonly string[];
  /** Computed only if there are no faults. */
  readonly warnings?: (timeoutMs: number) => Promise<readonly string[]>;
}

const DEADLINE_MS = 8000;
const LATE: AdmissionAnswer = {
  allowed: true,
  warnings: ['gw: it was not checked in time; its status will show whether it is valid'],
};

/** Reviews at once, and of one namespace: compiling is shared with the controllers, and one tenant's wait for its own. */
export interface ReviewLimits {
  readonly maxRunning: number;
  readonly maxRunningOfNamespace: number;
}

/** Queues reviews for as long as they have time; one without time left is admitted without a review. */
export function boundedReview(
  limits: ReviewLimits,
): (deps: ReviewWith, request: AdmissionRequest) => Promise<AdmissionAnswer> {
  const turns = new ReviewTurns(limits);
  return async (deps, request) => {
    const until = Date.now() + (deps.deadlineMs ?? DEADLINE_MS);
    const turn = await turns.take(request.namespace, until);
    if (!turn) return LATE;
    const { answer, ended } = startReview({ ...deps, deadlineMs: Math.max(1, until - Date.now()) }, request);
    // Work that continues after the answer keeps its turn: else it would pile up behind compilations.
    void ended.then(turn);
    return answer;
  };
}

/** Reviews an object; an internal failure admits it, since its conditions report the same as a refusal would. */
export function reviewObject(deps: ReviewWith, request: AdmissionRequest): Promise<AdmissionAnswer> {
  return startReview(deps, request).answer;
}

interface StartedReview {
  /** Never rejects, and comes within the deadline. */
  readonly answer: Promise<AdmissionAnswer>;
  /** Resolves when all work for it has ended. Never rejects. */
  readonly ended: Promise<void>;
}

function startReview(deps: ReviewWith, request: AdmissionRequest): StartedReview {
  const deadlineMs = deps.deadlineMs ?? DEADLINE_MS;
  const work = review(deps, request, Date.now() + deadlineMs);
  const nothing = () => undefined;
  return { answer: answerOf(deps, work, deadlineMs), ended: work.then(nothing, nothing) };
}

async function answerOf(
  deps: ReviewWith,
  work: Promise<AdmissionAnswer>,
  deadlineMs: number,
): Promise<AdmissionAnswer> {
  const deadline = Promise.withResolvers<AdmissionAnswer>();
  const timer = setTimeout(() => deadline.resolve(LATE), deadlineMs);
  try {
    return await Promise.race([work, deadline.promise]);
  } catch (error) {
    deps.onError(error);
    return { allowed: true, warnings: ['gw: it could not be checked; its status will show whether it is valid'] };
  } finally {
    clearTimeout(timer);
  }
}

async function review(deps: ReviewWith, request: AdmissionRequest, until: number): Promise<AdmissionAnswer> {
  if (!deps.namespaces.includes(request.namespace)) return { allowed: true };
  const left = () => Math.max(1, until - Date.now());
  if (request.operation === 'DELETE')
    return { allowed: true, warnings: named(await warningsOfDeletion(deps, request)) };
  if (isUnchanged(request)) return { allowed: true };
  const { faults, warnings } = await findings(deps, request, left());
  if (faults.length > 0) return { allowed: false, code: 422, message: refusal(request, faults) };
  return { allowed: true, warnings: named((await warnings?.(left())) ?? []) };
}

/** Labels, annotations and finalizers may always change, also of an object that was admitted without a review. */
function isUnchanged({ operation, object, oldObject }: AdmissionRequest): boolean {
  if (operation !== 'UPDATE' || !isRecord(object) || !isRecord(oldObject)) return false;
  const going = isRecord(object['metadata']) && object['metadata']['deletionTimestamp'] !== undefined;
  return going || isDeepStrictEqual(object['spec'], oldObject['spec']);
}

async function findings(deps: ReviewWith, request: AdmissionRequest, timeoutMs: number): Promise<Findings> {
  const { kind, namespace } = request;
  const next = <T extends KubeObject>(resource: Resource<T>) => read(resource, request.object, namespace);
  switch (kind) {
    case apiSpecs.kind:
      return findingsOfApiSpec(deps, next(apiSpecs), timeoutMs);
    case gatewayProjects.kind: {
      const project: GatewayProject = next(gatewayProjects);
      return { faults: projectFaults(project, deps), warnings: (ms) => findingsOfProject(deps, project, ms) };
    }
    case pluginRefs.kind: {
      const ref: PluginRef = next(pluginRefs);
      return { faults: await pluginRefFaults(ref, deps.catalog), warnings: (ms) => findingsOfPart(deps, ref, ms) };
    }
    case deployments.kind: {
      const deployment: Deployment = next(deployments);
      const before = request.oldObject === undefined ? undefined : read(deployments, request.oldObject, namespace);
      return { faults: deploymentFaults(deployment, before), warnings: () => findingsOfDeployment(deps, deployment) };
    }
    default:
      return { faults: [] };
  }
}

async function findingsOfApiSpec(deps: ReviewWith, spec: ApiSpec, timeoutMs: number): Promise<Findings> {
  const warnings = (ms: number) => findingsOfPart(deps, spec, ms);
  if (spec.spec.source.inline === undefined) return { faults: [], warnings };
  const found = await documentFindings(spec, timeoutMs);
  const shown = found.errors.slice(0, MAX_SHOWN).map(findingLine);
  const more = found.errors.length - shown.length;
  return {
    faults: more > 0 ? [...shown, `and ${more} more errors`] : shown,
    warnings: async (ms) => {
      const cross = await warnings(ms);
      // A project that uses it has checked it with its own rules.
      return cross.length > 0 ? cross : found.warnings.map(findingLine);
    },
  };
}

async function warningsOfDeletion(
  deps: ReviewWith,
  { kind, namespace, oldObject }: AdmissionRequest,
): Promise<readonly string[]> {
  if (kind === apiSpecs.kind) return usersOf(deps, read(apiSpecs, oldObject, namespace));
  if (kind === pluginRefs.kind) return usersOf(deps, read(pluginRefs, oldObject, namespace));
  if (kind !== gatewayProjects.kind) return [];
  const { metadata, status } = read(gatewayProjects, oldObject, namespace);
  const pods = status?.sidecars?.pods ?? 0;
  if (pods === 0) return [];
  return [
    `${pods} pod(s) have sidecars of GatewayProject "${metadata.name}": these keep serving, but no new ones can be added`,
  ];
}

/** Reads the object; the server sends objects of `kubectl create` without their namespace. */
function read<T extends KubeObject>(resource: Resource<T>, value: unknown, namespace: string): T {
  const metadata = isRecord(value) && isRecord(value['metadata']) ? value['metadata'] : {};
  // An object with generateName has no name yet.
  const name = metadata['name'] ?? 'new';
  return resource.parse(isRecord(value) ? { ...value, metadata: { ...metadata, name, namespace } } : value);
}

function refusal({ kind, name }: AdmissionRequest, faults: readonly string[]): string {
  const [only] = faults;
  return faults.length === 1 && only !== undefined
    ? `${kind} "${name}": ${only}`
    : `${kind} "${name}":\n${faults.join('\n')}`;
}

function named(warnings: readonly string[]): readonly string[] {
  return warnings.map((text) => `gw: ${text}`);
}
