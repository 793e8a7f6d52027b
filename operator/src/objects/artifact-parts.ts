import { DEFAULT_PART_BYTES, splitArtifact } from '@gw/gateway/artifact';
import type { IConfigMap } from 'kubernetes-models/v1/ConfigMap';
import type { Revision } from '../api/gateway-project.ts';
import type { KubeObject } from '../kube/kube-object.ts';
import { manifest } from '../kube/manifest.ts';
import {
  ANNOTATION_ARCHIVE,
  ANNOTATION_HASH,
  ANNOTATION_PARTS,
  ANNOTATION_REVISION,
  ANNOTATION_SIGNED_BY,
  hashLabel,
  LABEL_HASH,
  LABEL_PART,
  ownedMeta,
} from './names.ts';

/** Past this many parts an artifact is refused: a registry is the place for it (docs/reference/kinds.md#storage). */
export const MAX_PARTS = 8;

export function partCount(archive: Uint8Array): number {
  return Math.max(1, Math.ceil(archive.length / DEFAULT_PART_BYTES));
}

/**
 * Returns the name of one ConfigMap, by the sha256 of the archive's tar (docs/decisions.md#named-by-tar), so that equal
 * archives share it.
 */
export function partName(project: KubeObject, archive: string, index: number): string {
  return `${project.metadata.name}-${archive}-${index}`;
}

/** Returns the immutable ConfigMaps of one revision, each of at most 900 KiB. */
export function artifactParts(project: KubeObject, revision: Revision, archive: Uint8Array): readonly KubeObject[] {
  return splitArtifact(archive, revision.archive).map(({ name, bytes }, index) =>
    manifest<IConfigMap>({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: ownedMeta(project, partName(project, revision.archive, index), {
        labels: { [LABEL_PART]: String(index), [LABEL_HASH]: hashLabel(revision.artifactHash) },
        annotations: {
          [ANNOTATION_HASH]: revision.artifactHash,
          [ANNOTATION_ARCHIVE]: revision.archive,
          [ANNOTATION_REVISION]: String(revision.revision),
          [ANNOTATION_PARTS]: String(revision.parts),
          ...(revision.signedBy ? { [ANNOTATION_SIGNED_BY]: revision.signedBy } : {}),
        },
      }),
      immutable: true,
      // The key is the name of the file in the folder that `gw serve` reads (docs/decisions.md#artifact-in-parts).
      binaryData: { [name]: Buffer.from(bytes).toString('base64') },
    }),
  );
}
