/** Decides which revisions of a project are kept, and where its newest artifact is stored. Pure. */

import type { Revision } from '../../../api/gateway-project.ts';
import { controlledBy, type KubeObject } from '../../../kube/kube-object.ts';
import { artifactParts, MAX_PARTS, partCount } from '../../../objects/artifact-parts.ts';
import { accessOf, artifactRecord, imageOf, isImageRecord, recordName } from '../../../objects/artifact-record.ts';
import { ANNOTATION_REVISION } from '../../../objects/names.ts';
import { inPlace, objectNames, storedRevisions } from '../../../objects/stored-revisions.ts';
import { rfc3339, type Verdict } from '../../../runtime/conditions.ts';
import type { ImageState } from '../../../storage/image-store.ts';
import type { Compilation } from '../sources/compilation.ts';
import type { ObservedStorage } from './observed.ts';

type Compiled = Extract<Compilation, { ok: true }>;

export interface StorageDecision {
  /** Newest first, the new one among them. */
  readonly revisions: readonly Revision[];
  /** Number of the newest that compiled. */
  readonly latest: number | undefined;
  /** The ConfigMaps to write, before anything needs them. */
  readonly write: readonly KubeObject[];
  readonly verdict: Verdict;
}

export function decideStorage(
  observed: ObservedStorage,
  compilation: Compilation | undefined,
  now: Date,
): StorageDecision {
  const { project } = observed;
  const before = project.status;
  const kept = keptRevisions(observed);
  const placed = compilation?.ok ? place(observed, kept, compilation, now) : undefined;
  const newest = placed?.revision;
  const found = newest ? [newest, ...kept.filter(({ revision }) => revision !== newest.revision)] : kept;
  const lost = lostRevisions(observed, found);
  const revisions = [...found, ...lost].sort((a, b) => b.revision - a.revision);
  // If the project does not compile, the last revision that did stays.
  const latest =
    newest?.revision ??
    revisions.find(({ revision }) => revision === before?.latestRevision)?.revision ??
    revisions[0]?.revision;
  return {
    revisions,
    latest,
    write: placed?.write ?? [],
    verdict:
      placed?.problem ??
      lostVerdict(project, lost) ??
      storedVerdict(revisions.find(({ revision }) => revision === latest)),
  };
}

/** Reports whether the compilation's artifact belongs into the registry, and is not there. */
export function wantsImage(observed: ObservedStorage, compilation: Compilation | undefined): compilation is Compiled {
  if (!compilation?.ok || observed.project.spec.storage.type !== 'OCI') return false;
  const same = sameArtifact(observed, keptRevisions(observed), compilation);
  return same === undefined || !inPlace(observed.project, same);
}

/**
 * Returns objects that hold no kept revision: parts and records to remove at once, and records whose image is deleted
 * first. Objects that pods still start from stay.
 */
export function obsoleteArtifacts(
  { project, parts, workload, registry }: ObservedStorage,
  kept: readonly Revision[],
  compilation: Compilation | undefined,
): { readonly parts: readonly KubeObject[]; readonly records: readonly KubeObject[] } {
  const needed = new Set(kept.flatMap((revision) => objectNames(project, revision)));
  const { oci } = project.spec.storage;
  // On its way into the registry.
  if (compilation?.ok && oci) needed.add(recordName(project, compilation.tarSha256, oci.repository));
  const used = JSON.stringify(workload ?? {});
  const obsolete = parts.filter((part) => {
    const { name } = part.metadata;
    return controlledBy(part, project) && !needed.has(name) && !used.includes(imageOf(part)?.image ?? name);
  });
  const hasImage = (part: KubeObject) => isImageRecord(part) && !registry?.missing.has(imageOf(part)?.image ?? '');
  return { parts: obsolete.filter((part) => !hasImage(part)), records: obsolete.filter(hasImage) };
}

function keptRevisions({ project, parts, registry }: ObservedStorage): readonly Revision[] {
  const missing = registry?.missing;
  return storedRevisions(project, parts).filter(({ image }) => image === undefined || !missing?.has(image));
}

/** Compares by hash, not by archive: `compiled_at` differs between compilations of the same content. */
function sameArtifact(
  { signedBy }: ObservedStorage,
  revisions: readonly Revision[],
  { artifactHash }: Compiled,
): Revision | undefined {
  return revisions.find((revision) => revision.artifactHash === artifactHash && revision.signedBy === signedBy);
}

interface Placed {
  /** Undefined if the artifact is not stored yet. */
  readonly revision?: Revision;
  readonly write: readonly KubeObject[];
  readonly problem?: Verdict;
}

/** Returns the kept revision that equals the compilation if it is stored in place; else stores it. */
function place(observed: ObservedStorage, kept: readonly Revision[], compilation: Compiled, now: Date): Placed {
  const { project, signedBy } = observed;
  const same = sameArtifact(observed, kept, compilation);
  if (same && inPlace(project, same)) return { revision: same, write: [] };
  // A revision that lost its ConfigMaps or image is created again under its number.
  const known = same ?? sameArtifact(observed, project.status?.revisions ?? [], compilation);
  const taken = kept.some((revision) => revision !== same && revision.revision === known?.revision);
  const highest = Math.max(0, project.status?.latestRevision ?? 0, ...kept.map(({ revision }) => revision));
  const base = {
    revision: known && !taken ? known.revision : highest + 1,
    artifactHash: compilation.artifactHash,
    archive: compilation.tarSha256,
    createdAt: known && !taken ? known.createdAt : rfc3339(now),
    ...(signedBy ? { signedBy } : {}),
  };
  const placed =
    project.spec.storage.type === 'OCI'
      ? placeInRegistry(observed, base, observed.registry?.image)
      : placeInConfigMaps(observed, base, compilation.archive);
  // An artifact that cannot be moved is served from its current place.
  return placed.revision || !same ? placed : { ...placed, revision: same };
}

function placeInConfigMaps({ project, unlimited }: ObservedStorage, base: Revision, archive: Uint8Array): Placed {
  const parts = partCount(archive);
  if (parts > MAX_PARTS && !unlimited) {
    const message = `the artifact needs ${parts} ConfigMaps of 900 KiB, but at most ${MAX_PARTS} are allowed: set spec.storage.type to OCI`;
    return { write: [], problem: { type: 'Stored', status: 'False', reason: 'ArtifactTooLarge', message } };
  }
  const revision = { ...base, parts };
  return { revision, write: artifactParts(project, revision, archive) };
}

function placeInRegistry({ project }: ObservedStorage, base: Revision, state: ImageState | undefined): Placed {
  const { oci } = project.spec.storage;
  if (!oci || !state || state.archive !== base.archive || state.state === 'pushing') {
    const message = `the artifact is being pushed to ${oci?.repository ?? 'the registry'}`;
    return { write: [], problem: { type: 'Stored', status: 'Unknown', reason: 'Storing', message } };
  }
  if (state.state === 'failed') {
    const { reason, message } = state;
    return { write: [], problem: { type: 'Stored', status: 'False', reason, message } };
  }
  const { image } = state;
  const access = accessOf(oci);
  const revision = { ...base, image, registry: access };
  return { revision, write: [artifactRecord(project, revision, { archive: base.archive, image, access })] };
}

/** Returns revisions that pods serve although their storage was deleted: they stay until another is rolled out. */
function lostRevisions({ project, workload }: ObservedStorage, found: readonly Revision[]): readonly Revision[] {
  const served = Number(workload?.metadata.annotations?.[ANNOTATION_REVISION]);
  return (project.status?.revisions ?? []).filter(
    ({ revision }) => revision === served && !found.some((each) => each.revision === revision),
  );
}

function lostVerdict(project: KubeObject, [lost]: readonly Revision[]): Verdict | undefined {
  if (!lost) return undefined;
  const where = lost.image ?? `ConfigMap "${objectNames(project, lost).join('", "')}"`;
  const message = `revision ${lost.revision}, which pods serve, was deleted from ${where}: running pods keep serving it, but new ones cannot start. Correct what does not compile, or deploy another revision`;
  return { type: 'Stored', status: 'False', reason: 'ArtifactLost', message };
}

function storedVerdict(latest: Revision | undefined): Verdict {
  if (!latest) return { type: 'Stored', status: 'False', reason: 'NotStored', message: 'there is no artifact yet' };
  const where = latest.image ?? `${latest.parts} ConfigMap(s)`;
  return { type: 'Stored', status: 'True', reason: 'Stored', message: `revision ${latest.revision} is in ${where}` };
}
