/** The volume with the artifact that a pod starts with (docs/decisions.md#later-artifacts-over-link). */
import type { IContainer } from 'kubernetes-models/v1/Container';
import type { IVolume } from 'kubernetes-models/v1/Volume';
import type { IVolumeMount } from 'kubernetes-models/v1/VolumeMount';
import type { IVolumeProjection } from 'kubernetes-models/v1/VolumeProjection';
import type { Revision } from '../api/gateway-project.ts';
import type { GatewayProject } from '../api/resources.ts';
import type { Part } from '../kube/manifest.ts';
import { partName } from './artifact-parts.ts';
import { registryAccess, repositoryOf } from './artifact-record.ts';

export const ARTIFACT_DIR = '/artifact';
const ARTIFACT_VOLUME = 'artifact';

/** Volumes and containers with which a pod finds the artifact at ARTIFACT_DIR. */
export interface ArtifactSource {
  readonly volumes: readonly Part<IVolume>[];
  readonly volumeMounts: readonly Part<IVolumeMount>[];
  /** Containers that run before the gateway starts, in this order. */
  readonly initContainers: readonly Part<IContainer>[];
  /** Secrets that the kubelet pulls with, beside spec.pods.imagePullSecrets. */
  readonly imagePullSecrets: readonly string[];
}

export interface ArtifactSettings {
  /** Image if the project names none. */
  readonly image: string;
  /** Whether the cluster has image volumes. Default: no. */
  readonly imageVolumes?: boolean;
  /** Addresses beside public ones that the operator may connect to: containers that fetch in its place may too. */
  readonly egressAllow?: readonly string[];
}

/** Path of the bundled operator, which fetches images, in the image. */
const OPERATOR_ENTRY = '/app/gw-operator.js';
const CREDENTIALS_DIR = '/var/run/gw-registry';
const CREDENTIALS_VOLUME = 'gw-registry';
/** Maximum size of an artifact. */
const SIZE_LIMIT = '256Mi';

export function artifactSource(
  project: GatewayProject,
  revision: Revision,
  settings: ArtifactSettings,
): ArtifactSource {
  const { image } = revision;
  if (image === undefined) return fromConfigMaps(project, revision);
  const access = registryAccess(project, image, revision.registry);
  const mount = project.spec.storage.oci?.mount ?? 'Auto';
  const asVolume = mount === 'Auto' ? settings.imageVolumes === true : mount === 'ImageVolume';
  return asVolume ? fromImageVolume(image, access.pullSecret) : fromInitContainer(project, image, access, settings);
}

function fromConfigMaps(project: GatewayProject, revision: Revision): ArtifactSource {
  const parts = Array.from({ length: revision.parts ?? 0 }, (_, index) => partName(project, revision.archive, index));
  // All parts become one folder (docs/decisions.md#artifact-in-parts).
  const sources = parts.map((name): Part<IVolumeProjection> => ({ configMap: { name } }));
  return {
    volumes: [{ name: ARTIFACT_VOLUME, projected: { defaultMode: 0o444, sources } }],
    volumeMounts: [readOnlyMount(ARTIFACT_VOLUME, ARTIFACT_DIR)],
    initContainers: [],
    imagePullSecrets: [],
  };
}

function fromImageVolume(image: string, pullSecret: string | undefined): ArtifactSource {
  return {
    // Referenced by digest: an image on the node is the right one.
    volumes: [{ name: ARTIFACT_VOLUME, image: { reference: image, pullPolicy: 'IfNotPresent' } }],
    volumeMounts: [readOnlyMount(ARTIFACT_VOLUME, ARTIFACT_DIR)],
    initContainers: [],
    imagePullSecrets: pullSecret === undefined ? [] : [pullSecret],
  };
}

/** Returns a volume that the gateway's own image fills, without a shell. */
function fromInitContainer(
  { spec }: GatewayProject,
  image: string,
  access: ReturnType<typeof registryAccess>,
  settings: ArtifactSettings,
): ArtifactSource {
  const { pods } = spec;
  const secrets = access.pullSecret === undefined ? (pods.imagePullSecrets ?? []) : [access.pullSecret];
  const registry = repositoryOf(image).split('/', 1)[0] ?? '';
  const files = secrets.map((_, index) => `${index}.json`);
  return {
    volumes: [
      { name: ARTIFACT_VOLUME, emptyDir: { sizeLimit: SIZE_LIMIT } },
      ...(secrets.length > 0 ? [credentialsVolume(secrets, files)] : []),
    ],
    volumeMounts: [readOnlyMount(ARTIFACT_VOLUME, ARTIFACT_DIR)],
    initContainers: [
      {
        name: 'artifact',
        image: pods.image ?? settings.image,
        imagePullPolicy: pods.imagePullPolicy,
        command: ['node', OPERATOR_ENTRY],
        args: [
          'fetch',
          image,
          ARTIFACT_DIR,
          ...files.flatMap((file) => ['--docker-config', `${CREDENTIALS_DIR}/${file}`]),
          ...(access.plainHttp ? ['--plain-http-registry', registry] : []),
          ...(settings.egressAllow ?? []).flatMap((target) => ['--egress-allow', target]),
        ],
        resources: pods.resources,
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          runAsNonRoot: true,
          capabilities: { drop: ['ALL'] },
        },
        volumeMounts: [
          { name: ARTIFACT_VOLUME, mountPath: ARTIFACT_DIR },
          ...(secrets.length > 0 ? [readOnlyMount(CREDENTIALS_VOLUME, CREDENTIALS_DIR)] : []),
        ],
      },
    ],
    imagePullSecrets: [],
  };
}

/** Returns a volume of the Secrets; missing ones are left out, as the kubelet does with its pull secrets. */
function credentialsVolume(secrets: readonly string[], files: readonly string[]): Part<IVolume> {
  const sources = secrets.map(
    (name, index): Part<IVolumeProjection> => ({
      secret: { name, optional: true, items: [{ key: '.dockerconfigjson', path: files[index] ?? '' }] },
    }),
  );
  return { name: CREDENTIALS_VOLUME, projected: { defaultMode: 0o440, sources } };
}

function readOnlyMount(name: string, mountPath: string): Part<IVolumeMount> {
  return { name, mountPath, readOnly: true };
}
