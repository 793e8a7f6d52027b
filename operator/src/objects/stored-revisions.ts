/** The kept revisions and their storage: the ConfigMaps are the record, the status only shows it. */
import type { Revision } from '../api/gateway-project.ts';
import type { GatewayProject } from '../api/resources.ts';
import { controlledBy, type KubeObject } from '../kube/kube-object.ts';
import { partName } from './artifact-parts.ts';
import { imageOf, isImageRecord, recordName, repositoryOf } from './artifact-record.ts';
import {
  ANNOTATION_ARCHIVE,
  ANNOTATION_HASH,
  ANNOTATION_PARTS,
  ANNOTATION_REVISION,
  ANNOTATION_SIGNED_BY,
} from './names.ts';

/** Parts of the largest artifact: a forged annotation costs no more. */
const MOST_PARTS = 300;

/** Reports whether a revision is stored as the project now requires. */
export function inPlace({ spec }: GatewayProject, { image }: Revision): boolean {
  if (spec.storage.type === 'ConfigMap') return image === undefined;
  return image !== undefined && repositoryOf(image) === spec.storage.oci?.repository;
}

/** Returns complete revisions, newest first; of one with two copies, the required one. */
export function storedRevisions(project: GatewayProject, parts: readonly KubeObject[]): readonly Revision[] {
  const byNumber = new Map<number, Revision>();
  for (const revision of allRevisions(project, parts)) {
    const other = byNumber.get(revision.revision);
    if (!other || (inPlace(project, revision) && !inPlace(project, other))) byNumber.set(revision.revision, revision);
  }
  return [...byNumber.values()].sort((a, b) => b.revision - a.revision);
}

/** Names of the ConfigMaps that hold or record a revision. */
export function objectNames(project: KubeObject, { archive, image, parts = 0 }: Revision): readonly string[] {
  if (image !== undefined) return [recordName(project, archive, image)];
  return Array.from({ length: parts }, (_, index) => partName(project, archive, index));
}

function allRevisions(project: KubeObject, parts: readonly KubeObject[]): readonly Revision[] {
  const ours = parts.filter((part) => controlledBy(part, project));
  const names = new Set(ours.map(({ metadata }) => metadata.name));
  const seen = new Set<string>();
  const revisions: Revision[] = [];
  for (const part of ours) {
    const revision = revisionOf(part);
    if (!revision) continue;
    const id = `${revision.image ?? revision.archive}/${revision.revision}`;
    if (seen.has(id) || !objectNames(project, revision).every((name) => names.has(name))) continue;
    seen.add(id);
    revisions.push(revision);
  }
  return revisions;
}

/**
 * Returns the revision that a part or record describes; undefined if it was tampered with, or nothing is pushed yet.
 */
function revisionOf(object: KubeObject): Revision | undefined {
  const { annotations = {}, creationTimestamp } = object.metadata;
  const archive = annotations[ANNOTATION_ARCHIVE];
  const artifactHash = annotations[ANNOTATION_HASH];
  const revision = Number(annotations[ANNOTATION_REVISION]);
  const signedBy = annotations[ANNOTATION_SIGNED_BY];
  if (archive === undefined || artifactHash === undefined || !Number.isInteger(revision) || revision < 1)
    return undefined;
  const base = {
    revision,
    artifactHash,
    archive,
    createdAt: creationTimestamp ?? '',
    ...(signedBy ? { signedBy } : {}),
  };
  if (isImageRecord(object)) {
    const place = imageOf(object);
    return place && { ...base, ...place };
  }
  const parts = Number(annotations[ANNOTATION_PARTS]);
  return Number.isInteger(parts) && parts > 0 && parts <= MOST_PARTS ? { ...base, parts } : undefined;
}
