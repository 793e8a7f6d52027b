/** Decides, from what was observed and compiled, what a GatewayProject's objects and status shall be. Pure. */
import type { GatewayProjectStatus, Revision } from '../../api/gateway-project.ts';
import { MAX_DIAGNOSTICS, type StatusDiagnostic } from '../../api/shared.ts';
import { artifactParts, MAX_PARTS, partCount, storedRevisions } from '../../objects/artifact-parts.ts';
import { ANNOTATION_ARCHIVE, ANNOTATION_REVISION } from '../../objects/names.ts';
import { ownedObjects } from '../../objects/owned.ts';
import { serviceAddress } from '../../objects/service.ts';
import { conditions, rfc3339, type Verdict } from '../../runtime/conditions.ts';
import { controlledBy, type KubeObject } from '../../runtime/kube-object.ts';
import type { EventRecord } from '../../runtime/objects.ts';
import type { Refusal } from '../source.ts';
import type { Compilation } from './compilation.ts';
import {
  acceptedVerdict,
  compiledVerdict,
  podsSummary,
  programmedVerdict,
  readyVerdict,
  storedVerdict,
} from './conditions.ts';
import type { Observed } from './observe.ts';
import { obsolete, target } from './rollout.ts';

export interface Settings {
  /** Image of gateway pods where the project names none. */
  readonly image: string;
  /** Where the operator runs, for the NetworkPolicy. */
  readonly operatorNamespace: string;
  /** Seconds in place of the project's `serve.drainDelay`, where endpoints are withdrawn at once. */
  readonly drainDelay?: number;
}

export interface Decision {
  /** New ConfigMaps with the artifact, before everything else. */
  readonly parts: readonly KubeObject[];
  /** To be applied, in this order. */
  readonly apply: readonly KubeObject[];
  /** To be deleted: ours, and no longer needed. */
  readonly remove: readonly KubeObject[];
  readonly status: GatewayProjectStatus;
  readonly events: readonly EventRecord[];
  /** Milliseconds after which to look again, without being called. */
  readonly again: number;
}

const RESYNC_MS = 60_000;
/** Pods that became ready tell us at once; only what they serve must be asked for. */
const ROLLOUT_MS = 1000;

export function decide(
  observed: Observed,
  compilation: Compilation | undefined,
  problems: readonly Refusal[],
  settings: Settings,
  now: Date,
): Decision {
  const { project, deployments, pods, foreign } = observed;
  const { spec, status: before, metadata } = project;
  const kept = storedRevisions(project, observed.parts);
  const made = compilation?.ok ? latestRevision(observed, kept, compilation, now) : undefined;
  const tooLarge = compilation?.ok && made === undefined ? partCount(compilation.archive) : undefined;
  const revisions = made && !kept.includes(made) ? [made, ...kept] : kept;
  // What does not compile leaves the last that did.
  const latest =
    made?.revision ??
    revisions.find(({ revision }) => revision === before?.latestRevision)?.revision ??
    revisions[0]?.revision;
  const served = Number(observed.workload?.metadata.annotations?.[ANNOTATION_REVISION]) || undefined;
  const { revision: wanted, pinned } = target(project, deployments, revisions, latest, served);
  const summary = podsSummary(project, pods, wanted);

  const verdicts: Verdict[] = [
    acceptedVerdict(problems),
    compiledVerdict(compilation),
    storedVerdict(
      revisions.find(({ revision }) => revision === latest),
      tooLarge,
    ),
    programmedVerdict(wanted, pods, summary, observed.workload, foreign, spec.autoDeploy),
  ];
  const programmed = verdicts[3]?.status === 'True';
  const ready = readyVerdict(verdicts, summary, pinned);
  // Pods of the revision before may still be needed while the next is being rolled out.
  const forgotten = programmed
    ? obsolete(revisions, spec.revisionHistoryLimit, [wanted?.revision, latest, served])
    : [];
  const { apply, remove } = ownedObjects(
    project,
    { ...settings, trustedKeys: observed.trustedKeys, ...(wanted ? { revision: wanted } : {}) },
    observed.owned,
  );
  const diagnostics = sorted(compilation?.diagnostics ?? []);
  const status: GatewayProjectStatus = {
    observedGeneration: metadata.generation ?? 0,
    conditions: conditions([...verdicts, ready], before?.conditions, metadata.generation, now),
    ...(wanted ? { artifactHash: wanted.artifactHash, revision: wanted.revision } : {}),
    ...(latest === undefined ? {} : { latestRevision: latest }),
    revisions: revisions.filter((revision) => !forgotten.includes(revision)),
    specs: observed.sources.specs.flatMap(({ apiSpec, read }) =>
      read.ok
        ? [{ name: apiSpec.metadata.name, generation: apiSpec.metadata.generation ?? 0, sha256: read.document.sha256 }]
        : [],
    ),
    diagnostics: diagnostics.slice(0, MAX_DIAGNOSTICS),
    diagnosticsCount: diagnostics.length,
    pods: summary,
    address: serviceAddress(project),
  };
  return {
    parts: made && !kept.includes(made) && compilation?.ok ? artifactParts(project, made, compilation.archive) : [],
    apply: foreign.length > 0 ? [] : apply,
    remove: [...remove, ...(programmed ? obsoleteParts(observed, revisions, forgotten) : [])],
    status,
    events: events(before, status, [...verdicts, ready]),
    again: programmed || !wanted ? RESYNC_MS : ROLLOUT_MS,
  };
}

/** The kept revision that the compilation equals, else a new one; undefined when it is too large to keep. */
function latestRevision(
  { project, signedBy }: Observed,
  kept: readonly Revision[],
  compilation: Extract<Compilation, { ok: true }>,
  now: Date,
): Revision | undefined {
  // By hash, not by archive: `compiled_at` differs from one compilation to the next, what is served does not.
  const same = kept.find(
    (revision) => revision.artifactHash === compilation.artifactHash && revision.signedBy === signedBy,
  );
  if (same) return same;
  const parts = partCount(compilation.archive);
  if (parts > MAX_PARTS) return undefined;
  const highest = Math.max(0, project.status?.latestRevision ?? 0, ...kept.map(({ revision }) => revision));
  return {
    revision: highest + 1,
    artifactHash: compilation.artifactHash,
    archive: compilation.tarSha256,
    createdAt: rfc3339(now),
    parts,
    ...(signedBy ? { signedBy } : {}),
  };
}

/** ConfigMaps of revisions that are forgotten, and those left behind where not all parts could be written. */
function obsoleteParts(
  { project, parts }: Observed,
  revisions: readonly Revision[],
  forgotten: readonly Revision[],
): readonly KubeObject[] {
  const needed = new Set(revisions.filter((revision) => !forgotten.includes(revision)).map(({ archive }) => archive));
  return parts.filter(
    (part) => controlledBy(part, project) && !needed.has(part.metadata.annotations?.[ANNOTATION_ARCHIVE] ?? ''),
  );
}

function sorted(diagnostics: readonly StatusDiagnostic[]): readonly StatusDiagnostic[] {
  const rank = ({ severity }: StatusDiagnostic) => (severity === 'error' ? 0 : 1);
  return diagnostics.toSorted((a, b) => rank(a) - rank(b));
}

/** An Event for every condition that changes its mind, so that `kubectl describe` tells the story. */
function events(
  before: GatewayProjectStatus | undefined,
  after: GatewayProjectStatus,
  verdicts: readonly Verdict[],
): readonly EventRecord[] {
  const changed = verdicts.filter(({ type, reason, message }) => {
    const previous = before?.conditions?.find((condition) => condition.type === type);
    if (previous?.reason !== reason) return true;
    // A document that fails in another way is news; counts of pods are not.
    return type === 'Compiled' && previous.message !== message;
  });
  const told = changed.map(({ type, status, reason, message }) => ({
    type:
      status === 'True' || reason === 'RollingOut' || reason === 'NoReadyPods' || reason === 'NotStored'
        ? ('Normal' as const)
        : ('Warning' as const),
    reason,
    action: type,
    note: message,
  }));
  // Ready only repeats the others, except when all is well.
  return told.filter(
    ({ action, reason }) =>
      action !== 'Ready' || reason === 'Ready' || (reason === 'LastGoodServing' && after.artifactHash !== undefined),
  );
}
