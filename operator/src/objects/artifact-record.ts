/**
 * The record of an artifact in a registry: a ConfigMap of metadata only. It is created before the image is pushed and
 * deleted after the image, so that every image is known. It is deleted with its project.
 */
import { createHash } from 'node:crypto';
import type { IConfigMap } from 'kubernetes-models/v1/ConfigMap';
import type { Revision } from '../api/gateway-project.ts';
import type { GatewayProject } from '../api/resources.ts';
import { isRecord, type KubeObject } from '../kube/kube-object.ts';
import { manifest } from '../kube/manifest.ts';
import {
  ANNOTATION_ARCHIVE,
  ANNOTATION_HASH,
  ANNOTATION_IMAGE,
  ANNOTATION_REGISTRY,
  ANNOTATION_REVISION,
  ANNOTATION_SIGNED_BY,
  hashLabel,
  LABEL_HASH,
  LABEL_PART,
  ownedMeta,
} from './names.ts';

/** How the registry of an image is reached. */
export type RegistryAccess = NonNullable<Revision['registry']>;

/** Value of LABEL_PART of a record. */
const IMAGE_PART = 'image';

export function isImageRecord({ metadata }: KubeObject): boolean {
  return metadata.labels?.[LABEL_PART] === IMAGE_PART;
}

/** Returns REGISTRY/REPOSITORY of an image. */
export function repositoryOf(image: string): string {
  return image.split('@', 1)[0] ?? '';
}

/** Names a record by archive and repository: the same archive may be in two repositories while it moves. */
export function recordName(project: KubeObject, archive: string, image: string): string {
  const repository = createHash('sha256').update(repositoryOf(image)).digest('hex').slice(0, 8);
  return `${project.metadata.name}-${archive}-${repository}`;
}

/** Returns the access to an image: from the project's spec if it names the repository, else as it was when pushed. */
export function registryAccess({ spec }: GatewayProject, image: string, recorded: RegistryAccess = {}): RegistryAccess {
  const { oci } = spec.storage;
  return oci?.repository === repositoryOf(image) ? accessOf(oci) : recorded;
}

export function accessOf({ pushSecret, pullSecret, plainHttp }: RegistryAccess): RegistryAccess {
  return {
    ...(pushSecret ? { pushSecret } : {}),
    ...(pullSecret ? { pullSecret } : {}),
    ...(plainHttp ? { plainHttp } : {}),
  };
}

/** An image to be pushed, which no revision has yet. */
export interface PendingImage {
  readonly archive: string;
  readonly image: string;
  readonly access: RegistryAccess;
}

export function pendingRecord(project: KubeObject, pending: PendingImage): KubeObject {
  return record(project, pending, {}, {});
}

/** Returns the record of a pushed image; the revision has `image`. */
export function artifactRecord(project: KubeObject, revision: Revision, pending: PendingImage): KubeObject {
  return record(
    project,
    pending,
    { [LABEL_HASH]: hashLabel(revision.artifactHash) },
    {
      [ANNOTATION_HASH]: revision.artifactHash,
      [ANNOTATION_REVISION]: String(revision.revision),
      ...(revision.signedBy ? { [ANNOTATION_SIGNED_BY]: revision.signedBy } : {}),
    },
  );
}

function record(
  project: KubeObject,
  { archive, image, access }: PendingImage,
  labels: { readonly [name: string]: string },
  annotations: { readonly [name: string]: string },
): KubeObject {
  return manifest<IConfigMap>({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: ownedMeta(project, recordName(project, archive, image), {
      labels: { ...labels, [LABEL_PART]: IMAGE_PART },
      annotations: {
        ...annotations,
        [ANNOTATION_ARCHIVE]: archive,
        [ANNOTATION_IMAGE]: image,
        [ANNOTATION_REGISTRY]: JSON.stringify(accessOf(access)),
      },
    }),
    immutable: true,
  });
}

/** Returns the image of a record; undefined if the record no longer belongs to the operator. */
export function imageOf({
  metadata,
}: KubeObject): { readonly image: string; readonly registry: RegistryAccess } | undefined {
  const image = metadata.annotations?.[ANNOTATION_IMAGE];
  if (image === undefined) return undefined;
  return { image, registry: parseAccess(metadata.annotations?.[ANNOTATION_REGISTRY]) };
}

function parseAccess(json: string | undefined): RegistryAccess {
  let parsed: unknown;
  try {
    parsed = JSON.parse(json ?? '{}');
  } catch {
    return {};
  }
  if (!isRecord(parsed)) return {};
  const { pushSecret, pullSecret, plainHttp } = parsed;
  return {
    ...(typeof pushSecret === 'string' ? { pushSecret } : {}),
    ...(typeof pullSecret === 'string' ? { pullSecret } : {}),
    ...(plainHttp === true ? { plainHttp } : {}),
  };
}
