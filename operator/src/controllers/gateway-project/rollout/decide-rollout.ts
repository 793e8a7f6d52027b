/**
 * The rollout of one revision after another: a state machine over status.rollout and status.failed. Pure. A change of
 * phase is recorded before anything is done about it, so that any operator that continues from there does the same.
 */

import type { Revision } from '../../../api/gateway-project.ts';
import type { ReasonName } from '../../../api/reasons.ts';
import type { FailedRevision, MeasuredFault, RolloutSpec, RolloutStatus } from '../../../api/rollout.ts';
import { rfc3339 } from '../../../runtime/conditions.ts';
import { eventOf } from '../../../runtime/event-of.ts';
import type { EventRecord } from '../../../runtime/objects.ts';
import type { PodState } from '../pods/pod-state.ts';
import type { AnalysisResult } from './analysis.ts';
import { canaryPods, canarySteps, shareOf } from './canary.ts';
import type { RolloutAction, RolloutCommand } from './command.ts';
import { attemptOf } from './desired-revision.ts';
import { evidenceNeeded, type FingerprintOf, faultsIn, unproven, withMeasured } from './evidence.ts';
import type { PodRefusal } from './observe.ts';

export interface RolloutInput {
  readonly spec: RolloutSpec;
  /** Pods can receive artifacts over the link. */
  readonly linked: boolean;
  readonly revisions: readonly Revision[];
  /** The revision that the project or a Deployment requests; undefined if nothing can be served. */
  readonly desired: Revision | undefined;
  readonly latest: number | undefined;
  /** Generation of the project's spec. */
  readonly generation: number;
  /** The Deployment in effect: the revision that it requests, and its identifier. */
  readonly asking?: { readonly revision: number; readonly id: string };
  readonly before: RolloutStatus | undefined;
  readonly failed: FailedRevision | undefined;
  /** Version of the pods' Secrets; undefined if they use none. */
  readonly secrets?: string;
  /** Revision in the template of the stable pods; undefined before there are any. */
  readonly templated: number | undefined;
  /** Desired number of stable pods. */
  readonly wanted: number;
  /** Whether the workload with the new revision has made no progress for too long. */
  readonly stalled: { readonly stable: boolean; readonly canary: boolean };
  /** Why no pod can be created: a quota, an admission policy. */
  readonly uncreatable?: string;
  /** Pods of this generation did not start with the revision before either. */
  readonly blameless: boolean;
  readonly pods: readonly PodState[];
  /** Pods that refused an artifact over the link. */
  readonly refusals: readonly PodRefusal[];
  /** Stable pods that served the goal when it was looked last. */
  readonly programmedBefore: number;
  /** Result of the measurements of the canary's step; undefined before there are any. */
  readonly analysis?: AnalysisResult;
  /** Operations that canaries measured as bad. */
  readonly faults: readonly MeasuredFault[];
  readonly fingerprintOf: FingerprintOf;
  /** A user's command for the rollout. */
  readonly command?: RolloutCommand | undefined;
  readonly now: Date;
}

export interface RolloutDecision {
  /** The revision that pods serve at the end. */
  readonly goal?: Revision;
  /** The revision that the stable pods serve now. */
  readonly stable?: Revision;
  readonly canary?: { readonly revision: Revision; readonly pods: number };
  readonly status?: RolloutStatus;
  readonly failed?: FailedRevision;
  readonly faults: readonly MeasuredFault[];
  readonly events: readonly EventRecord[];
  /** Milliseconds after which to check again, undefined when nothing is in progress. */
  readonly requeueAfterMs?: number;
}

const LOOK_MS = 1000;
const BY_HAND = 'it was aborted manually';
/** Operations without evidence, in status. */
const MOST_NAMED = 20;

export function decideRollout(input: RolloutInput): RolloutDecision {
  const { command, before } = input;
  if (!command || command.id === before?.asked) return decideFaults({ ...input, command: undefined });
  const decision = decideFaults({ ...input, faults: withoutPardoned(input) });
  return decision.status ? { ...decision, status: { ...decision.status, asked: command.id } } : decision;
}

/** Removes the faults of a revision that a user has pardoned. */
function withoutPardoned({ command, faults, revisions, fingerprintOf }: RolloutInput): readonly MeasuredFault[] {
  const goal = revisions.find(({ revision }) => revision === command?.revision);
  if (!goal || !PARDONS.has(command?.action ?? '')) return faults;
  const pardoned = faultsIn(faults, goal, fingerprintOf);
  return faults.filter((fault) => !pardoned.includes(fault));
}

const PARDONS: ReadonlySet<string> = new Set<RolloutAction>(['retry', 'promote', 'promote-full']);

/** Adds the measured faults to the decision: recorded if a canary did worse, cleared if all operations did well. */
function decideFaults(input: RolloutInput): RolloutDecision {
  const { faults, fingerprintOf, before, now } = input;
  const { measured, ...decision } = decide(input);
  const { goal, status } = decision;
  if (goal && measured) return { ...decision, faults: withMeasured(faults, measured, goal, fingerprintOf, now) };
  // Each step had its evidence, or a user's command.
  const isProven = status?.strategy === 'Canary' && status.phase === 'Succeeded' && before?.phase === 'Progressing';
  if (!goal || !isProven || status.unserved) return { ...decision, faults };
  const gone = faultsIn(faults, goal, fingerprintOf);
  return { ...decision, faults: faults.filter((fault) => !gone.includes(fault)) };
}

/** A decision before measured faults are recorded. */
interface Deciding extends Omit<RolloutDecision, 'faults'> {
  /** Why a canary is aborted now. */
  readonly measured?: AnalysisResult;
}

/** Decides from an input whose command has not been carried out yet. */
function decide(input: RolloutInput): Deciding {
  const { desired, before, spec, revisions } = input;
  const failed = standingFailure(input);
  const kept = failed ? { failed } : {};
  if (!desired) return { ...kept, ...(before ? { status: before } : {}), events: [] };
  const good = lastGood(input);
  if (failed?.revision === desired.revision && before && good && returns(spec, before)) {
    // Back to the last good revision; the record of the failure stays.
    return { goal: good, stable: good, status: before, failed, events: [] };
  }
  const isRetry = input.failed !== undefined && failed === undefined && before?.phase !== 'Succeeded';
  const firstPods = before?.phase === 'Succeeded' && before.unserved === true && input.wanted > 0;
  const isAsked = asks(input, 'retry', desired.revision) && before?.needsEvidence !== undefined;
  const isHeld = before?.needsEvidence !== undefined && before.strategy !== 'Canary';
  if (
    before?.revision !== desired.revision ||
    before.phase === 'Aborted' ||
    isRetry ||
    firstPods ||
    isAsked ||
    isHeld
  ) {
    const begun = begin(input, desired, good, firstPods);
    // The measurements belong to the previous rollout.
    const { analysis: _, ...rest } = input;
    return { ...(held(input, desired, begun) ?? advance(rest, desired, begun)), ...kept };
  }
  if (before.phase === 'Succeeded') return { goal: desired, stable: desired, status: before, ...kept, events: [] };
  const from = revisions.find(({ revision }) => revision === before.from);
  if (before.phase === 'Failed') {
    // There is no revision to return to, or returning is off: this one may still become ready.
    const done = isServed(input, desired) ? succeed(before, input) : before;
    return { goal: desired, stable: desired, status: done, ...kept, events: [] };
  }
  return { ...kept, ...advance(input, desired, { status: before, from }) };
}

interface Underway {
  readonly status: RolloutStatus;
  readonly from: Revision | undefined;
}

/** Returns the failure that holds until its cause changes, or a Deployment requests the revision. */
function standingFailure(input: RolloutInput): FailedRevision | undefined {
  const { failed, latest, generation, asking, secrets } = input;
  if (!failed || failed.generation !== generation || asks(input, 'retry', failed.revision)) return undefined;
  if (failed.secrets !== undefined && failed.secrets !== secrets) return undefined;
  if (asking?.revision === failed.revision) return asking.id === failed.deployment ? failed : undefined;
  return latest === failed.revision ? failed : undefined;
}

/** Reports whether a user requests that action now, for that revision. */
function asks({ command }: RolloutInput, action: RolloutAction, revision: number): boolean {
  return command?.action === action && command.revision === revision;
}

/** Returns why the rollout is aborted; undefined if nobody aborts it. */
function calledOff(input: RolloutInput, goal: Revision): string | undefined {
  return asks(input, 'abort', goal.revision) ? BY_HAND : undefined;
}

/** Reports whether a failed rollout returns. A canary is always removed: the stable revision keeps serving anyway. */
function returns({ automaticRollback }: RolloutSpec, { phase }: RolloutStatus): boolean {
  return automaticRollback || phase === 'Aborted';
}

function lastGood({ before, revisions, templated }: RolloutInput): Revision | undefined {
  // A watched revision runs in all stable pods and has passed every step.
  const isGood = (before?.phase === 'Succeeded' && !before.unserved) || before?.watching === true;
  const number = before === undefined ? templated : isGood ? before.revision : before.from;
  return revisions.find(({ revision }) => revision === number);
}

/** `firstPods`: it has succeeded without any. */
function begin(
  { spec, linked, wanted, now, blameless, generation }: RolloutInput,
  goal: Revision,
  good: Revision | undefined,
  firstPods: boolean,
): Underway {
  // An aborted rollout returns to what is served now.
  const from = good;
  const forward = from !== undefined && goal.revision > from.revision;
  const strategy =
    spec.strategy === 'Canary' && forward && wanted > 0
      ? 'Canary'
      : spec.strategy === 'InPlace' && linked && from
        ? 'InPlace'
        : 'Rolling';
  const at = rfc3339(now);
  const status: RolloutStatus = {
    strategy,
    ...(blameless ? { blamelessAt: generation } : {}),
    phase: 'Progressing',
    revision: goal.revision,
    artifactHash: goal.artifactHash,
    ...(from ? { from: from.revision } : {}),
    ...(firstPods ? { unserved: true } : {}),
    ...(strategy === 'Canary' ? { step: 0, weight: canarySteps(spec)[0]?.weight ?? 0 } : {}),
    startedAt: at,
    progressedAt: at,
    message: `revision ${goal.revision} is rolled out (${strategy})`,
  };
  return { status, from };
}

/**
 * Holds a revision with operations that were measured as bad if the rollout measures nothing: the served revision
 * stays. A rollback is never held.
 */
function held(input: RolloutInput, goal: Revision, { status, from }: Underway): Deciding | undefined {
  const { before, faults, fingerprintOf, wanted } = input;
  if (!from || goal.revision <= from.revision || status.strategy === 'Canary' || wanted === 0) return undefined;
  const owed = faultsIn(faults, goal, fingerprintOf);
  if (owed.length === 0) return undefined;
  const why = calledOff(input, goal);
  if (why !== undefined) return { goal: from, stable: from, ...fail(input, goal, status, why) };
  const since = before?.revision === goal.revision ? before.startedAt : undefined;
  const message = `revision ${goal.revision} is not rolled out, since it has what a canary measured as bad: ${evidenceNeeded(owed)}. ${status.strategy} measures nothing: kubectl gw retry or promote rolls it out, or spec.rollout.strategy Canary measures it`;
  const waiting = { ...status, ...(since ? { startedAt: since, progressedAt: since } : {}), ...owes(owed), message };
  return { goal: from, stable: from, status: waiting, events: heldEvents(before, waiting) };
}

/** Returns Events of a held rollout, once. */
function heldEvents(before: RolloutStatus | undefined, { message = '', revision }: RolloutStatus) {
  const isTold = before?.needsEvidence !== undefined && before.revision === revision;
  return isTold ? [] : [event('NeedsEvidence', message)];
}

function owes(faults: readonly MeasuredFault[]): Pick<RolloutStatus, 'needsEvidence'> {
  return { needsEvidence: faults.map(({ operation }) => operation).slice(0, MOST_NAMED) };
}

function advance(input: RolloutInput, goal: Revision, { status, from }: Underway): Deciding {
  if (status.strategy === 'Canary' && from) return advanceCanary(input, goal, status, from);
  const failure =
    calledOff(input, goal) ??
    (status.strategy === 'InPlace' ? inPlaceFailure(input, goal, status) : stableFailure(input, goal, status));
  const decision = { goal, stable: goal, events: [] };
  if (failure !== BY_HAND && isServed(input, goal)) return { ...decision, status: succeed(status, input) };
  if (failure !== undefined) return { ...decision, ...fail(input, goal, status, failure) };
  const programmed = servedBy(input.pods, goal);
  const moved = programmed > input.programmedBefore ? { progressedAt: rfc3339(input.now) } : {};
  const message = `${programmed} of ${input.wanted} pods serve revision ${goal.revision}`;
  return { ...decision, status: { ...status, ...moved, message }, requeueAfterMs: LOOK_MS };
}

function advanceCanary(input: RolloutInput, goal: Revision, before: RolloutStatus, from: Revision): Deciding {
  if (before.watching) return watchPromoted(input, goal, before, from);
  const { spec, wanted, now } = input;
  const steps = canarySteps(spec);
  const index = Math.min(before.step ?? 0, steps.length);
  const step = steps[index];
  const weight = (step ?? steps.at(-1))?.weight ?? 0;
  const canary = { revision: goal, pods: canaryPods(weight, wanted) };
  const others = input.pods.filter((pod) => pod.ready && !pod.terminating && !pod.canary).length;
  const own = input.pods.filter(({ canary: its, revision }) => its && revision === goal.revision);
  const ready = servedBy(own, goal, true);
  const status = { ...before, share: shareOf(ready, others) };
  if (!step) {
    const failure = calledOff(input, goal) ?? stableFailure(input, goal, status);
    const decision = { goal, stable: goal, canary, events: [] };
    if (failure !== BY_HAND && isServed(input, goal)) {
      if (spec.canary.watchSeconds === 0) return { ...decision, status: succeed(status, input) };
      return { ...decision, status: { ...status, watching: true, progressedAt: rfc3339(now) }, requeueAfterMs: 0 };
    }
    if (failure !== undefined) return { ...decision, ...fail(input, goal, status, failure) };
    const message = `promoted: ${servedBy(input.pods, goal)} of ${wanted} pods serve revision ${goal.revision}`;
    return { ...decision, status: { ...status, message }, requeueAfterMs: LOOK_MS };
  }
  const decision = { goal, stable: from, canary, events: [] };
  const failure =
    calledOff(input, goal) ??
    (isBlameless(input, status)
      ? undefined
      : (failureOf(own) ?? (input.stalled.canary ? late(input, own) : undefined)));
  if (failure !== undefined) return { ...decision, ...fail(input, goal, status, failure) };
  const { analysis } = input;
  if (analysis?.verdict === 'worse') {
    return { ...decision, ...fail(input, goal, status, analysis.message), measured: analysis };
  }
  const name = `step ${index + 1} of ${steps.length}`;
  const full = asks(input, 'promote-full', goal.revision);
  if (full || asks(input, 'promote', goal.revision)) {
    return { ...decision, ...nextStep(input, goal, status, full ? steps.length : index + 1) };
  }
  const paused = before.paused === true || asks(input, 'pause', goal.revision);
  if (before.steppedAt === undefined && ready < canary.pods) {
    const message = `${name}: ${ready} of ${canary.pods} canary pods serve revision ${goal.revision}`;
    return {
      ...decision,
      status: { ...status, weight, message, ...(paused ? { paused } : {}) },
      requeueAfterMs: LOOK_MS,
    };
  }
  const steppedAt = before.steppedAt ?? rfc3339(now);
  const left = Date.parse(steppedAt) + step.pauseSeconds * 1000 - now.getTime();
  const { minRequests, requireEvidence } = spec.canary.analysis;
  const owed = unproven(faultsIn(input.faults, goal, input.fingerprintOf), analysis, minRequests);
  const missing = requireEvidence && lacksEvidence(analysis);
  if (left > 0 || missing || paused || owed.length > 0) {
    const said = analysis ? `; ${analysis.message}` : '';
    const proof = `; it needs ${minRequests} requests to each of these, or kubectl gw retry or promote: ${evidenceNeeded(owed)}`;
    const lacking = owed.length > 0 ? proof : '; it waits for that (requireEvidence)';
    const waits = paused ? '; paused' : left > 0 ? '' : lacking;
    const message = `${name}: ${canary.pods} of ${canary.pods + others} pods have revision ${goal.revision}${said}${waits}`;
    const { needsEvidence: _, ...rest } = status;
    const isStalled = left <= 0 && owed.length > 0;
    const seen = { ...evidenceOf(analysis), ...(paused ? { paused } : {}), ...(isStalled ? owes(owed) : {}) };
    const requeueAfterMs = left > 0 ? Math.min(left, LOOK_MS) : LOOK_MS;
    const waiting = { ...rest, weight, steppedAt, ...seen, message };
    return { ...decision, status: waiting, requeueAfterMs, events: isStalled ? heldEvents(before, waiting) : [] };
  }
  return { ...decision, ...nextStep(input, goal, status, index + 1) };
}

/** Keeps a few pods on the previous revision for a while after all others have changed: faults show as in a step. */
function watchPromoted(input: RolloutInput, goal: Revision, before: RolloutStatus, from: Revision): Deciding {
  const { spec, wanted, now, analysis } = input;
  const canary = { revision: from, pods: canaryPods(canarySteps(spec)[0]?.weight ?? 1, wanted) };
  const decision = { goal, stable: goal, canary, events: [] };
  const failure = calledOff(input, goal) ?? stableFailure(input, goal, before);
  if (failure !== undefined) return { ...decision, ...fail(input, goal, before, failure) };
  if (analysis?.verdict === 'worse') {
    return { ...decision, ...fail(input, goal, before, analysis.message), measured: analysis };
  }
  const done = { goal, stable: goal, events: [], status: succeed(before, input) };
  if (asks(input, 'promote', goal.revision) || asks(input, 'promote-full', goal.revision)) return done;
  const ready = servedBy(input.pods, from, true);
  if (before.steppedAt === undefined && ready < canary.pods) {
    // Missing data to compare with is not a fault of the new revision.
    const late = now.getTime() - Date.parse(before.progressedAt ?? '') > spec.progressDeadlineSeconds * 1000;
    if (late) return done;
    const message = `promoted; ${ready} of ${canary.pods} pods have revision ${from.revision} again, for comparison`;
    return { ...decision, status: { ...before, message }, requeueAfterMs: LOOK_MS };
  }
  const steppedAt = before.steppedAt ?? rfc3339(now);
  const left = Date.parse(steppedAt) + spec.canary.watchSeconds * 1000 - now.getTime();
  if (left <= 0) return done;
  const said = analysis ? `; ${analysis.message}` : '';
  const message = `promoted; ${canary.pods} pod(s) keep revision ${from.revision} for ${spec.canary.watchSeconds} s, for comparison${said}`;
  return {
    ...decision,
    status: { ...before, steppedAt, ...evidenceOf(analysis), message },
    requeueAfterMs: Math.min(left, LOOK_MS),
  };
}

/** Begins the step of that index; past the last, the stable pods are rolled. */
function nextStep(
  { spec, now }: RolloutInput,
  goal: Revision,
  status: RolloutStatus,
  index: number,
): Pick<RolloutDecision, 'status' | 'events' | 'requeueAfterMs'> {
  const { steppedAt: _, paused: _p, needsEvidence: _n, ...rest } = status;
  const steps = canarySteps(spec);
  const next = steps[index];
  const message = next ? `step ${index + 1} of ${steps.length}: ${next.weight} % of the pods` : 'promoted to all pods';
  return {
    status: { ...rest, step: index, weight: next?.weight ?? 100, progressedAt: rfc3339(now), message },
    events: [event('CanaryStep', `revision ${goal.revision}: ${message}`)],
    requeueAfterMs: 0,
  };
}

/** Returns the fields of the status about evidence. */
function evidenceOf(analysis: AnalysisResult | undefined): Pick<RolloutStatus, 'withoutEvidence'> {
  return analysis ? { withoutEvidence: analysis.withoutEvidence.slice(0, MOST_NAMED) } : {};
}

/** Reports whether operations in use have had too few requests, or are not measured yet. */
function lacksEvidence(analysis: AnalysisResult | undefined): boolean {
  return analysis === undefined || analysis.withoutEvidence.length > 0;
}

/**
 * Reports whether every ready stable pod serves the revision, and their number is the desired one
 * (docs/decisions.md#programmed-by-provenance).
 */
function isServed({ pods, wanted }: RolloutInput, goal: Revision): boolean {
  const ready = pods.filter((pod) => pod.ready && !pod.terminating && !pod.canary);
  return ready.length >= wanted && ready.every(({ serves }) => serves === goal.artifactHash);
}

function servedBy(pods: readonly PodState[], goal: Revision, canary = false): number {
  return pods.filter(
    (pod) => pod.ready && !pod.terminating && (pod.canary ?? false) === canary && pod.serves === goal.artifactHash,
  ).length;
}

/** Returns why pods that were started with the revision do not become ready. */
function stableFailure(input: RolloutInput, goal: Revision, status: RolloutStatus): string | undefined {
  if (isBlameless(input, status)) return undefined;
  const own = input.pods.filter((pod) => !pod.canary && pod.revision === goal.revision);
  return failureOf(own) ?? (input.stalled.stable ? late(input, own) : undefined);
}

function late({ uncreatable }: RolloutInput, own: readonly PodState[]): string {
  return `its pods did not become ready in time${uncreatable === undefined ? waitingOf(own) : `: ${uncreatable}`}`;
}

/**
 * Reports whether the fault that keeps its pods from starting is older than the rollout: it waits instead of failing.
 */
function isBlameless({ generation }: RolloutInput, { blamelessAt }: RolloutStatus): boolean {
  return blamelessAt === generation;
}

function inPlaceFailure(
  { refusals, pods, spec, now, linked }: RolloutInput,
  goal: Revision,
  status: RolloutStatus,
): string | undefined {
  const refusal = refusals.find(({ attempt }) => attempt === attemptOf(status));
  if (refusal) return `pod ${refusal.pod} rejected it: ${refusal.detail}`;
  if (now.getTime() - Date.parse(status.progressedAt ?? '') <= spec.progressDeadlineSeconds * 1000) return undefined;
  const late = pods.find((pod) => pod.ready && !pod.terminating && pod.serves !== goal.artifactHash);
  const why = linked ? '' : '; the operator no longer has a link';
  return `${late ? `pod ${late.name} does not serve it` : 'too few pods are ready'} after ${spec.progressDeadlineSeconds} s${why}`;
}

function failureOf(pods: readonly PodState[]): string | undefined {
  const failing = pods.find(({ fails, terminating }) => fails !== undefined && !terminating);
  return failing && `pod ${failing.name}: ${failing.fails}`;
}

function waitingOf(pods: readonly PodState[]): string {
  const waiting = pods.find((pod) => pod.waiting !== undefined && !pod.terminating);
  return waiting ? `: pod ${waiting.name}: ${waiting.waiting}` : '';
}

/** Ends the rollout; without pods as `unserved` (docs/decisions.md#unserved-revisions), to which no rollback goes. */
function succeed(status: RolloutStatus, { now, wanted }: RolloutInput): RolloutStatus {
  const { steppedAt: _, step: _s, weight: _w, share: _h, paused: _p, watching: _t, unserved: _u, ...also } = status;
  const { needsEvidence: _n, blamelessAt: _b, ...rest } = also;
  const ended = { ...rest, phase: 'Succeeded' as const, endedAt: rfc3339(now) };
  if (wanted === 0) return { ...ended, unserved: true, message: `revision ${status.revision} has no pods to serve it` };
  return { ...ended, message: `revision ${status.revision} is served by all pods` };
}

/** Fails the rollout. The failure is recorded first, its consequences follow. */
function fail(
  { spec, generation, asking, secrets, now }: RolloutInput,
  goal: Revision,
  status: RolloutStatus,
  why: string,
): Pick<RolloutDecision, 'status' | 'failed' | 'events' | 'requeueAfterMs'> {
  const canary = status.strategy === 'Canary';
  const called = canary || why === BY_HAND;
  const goesBack = status.from !== undefined && status.from !== goal.revision && (called || spec.automaticRollback);
  const message = `revision ${goal.revision} failed: ${why}`.slice(0, 4000);
  const at = rfc3339(now);
  const {
    steppedAt: _,
    share: _h,
    paused: _p,
    watching: _t,
    unserved: _u,
    needsEvidence: _n,
    blamelessAt: _b,
    ...rest
  } = status;
  const ended = { ...rest, phase: called ? ('Aborted' as const) : ('Failed' as const), endedAt: at, message };
  if (!goesBack) {
    return { status: ended, events: [event('RolloutFailed', message)], requeueAfterMs: LOOK_MS };
  }
  const failed: FailedRevision = {
    revision: goal.revision,
    artifactHash: goal.artifactHash,
    message: why.slice(0, 4000),
    at,
    generation,
    ...(secrets === undefined ? {} : { secrets }),
    ...(asking?.revision === goal.revision ? { deployment: asking.id } : {}),
  };
  const told = `${message}; revision ${status.from} is served`;
  return {
    status: ended,
    failed,
    events: [event(canary ? 'CanaryAborted' : 'RolledBack', told)],
    requeueAfterMs: 0,
  };
}

function event(reason: ReasonName, note: string): EventRecord {
  return eventOf(reason, 'Rollout', note);
}
