/** The template of gateway pods: one revision of a project, as its spec says. */
import type { Revision } from '../api/gateway-project.ts';
import type { GatewayProject } from '../api/resources.ts';
import { artifactSource } from './artifact-volume.ts';
import { gatewayContainer, type PodSettings } from './gateway-container.ts';
import { linkParts } from './link.ts';
import { ANNOTATION_ARCHIVE, ANNOTATION_HASH, ANNOTATION_REVISION, gatewayName, podLabels } from './names.ts';

/** Annotations that say which revision an object is about. */
export function revisionAnnotations(revision: Revision): { readonly [name: string]: string } {
  return {
    [ANNOTATION_ARCHIVE]: revision.archive,
    [ANNOTATION_HASH]: revision.artifactHash,
    [ANNOTATION_REVISION]: String(revision.revision),
  };
}

export function podTemplate(project: GatewayProject, revision: Revision, settings: PodSettings): object {
  const { pods, serve, secrets } = project.spec;
  const artifact = artifactSource(project, revision);
  const link = settings.link && linkParts(settings.link);
  return {
    metadata: {
      labels: { ...foreign(pods.labels), ...podLabels(project), 'app.kubernetes.io/managed-by': 'gw-operator' },
      annotations: { ...foreign(pods.annotations), ...revisionAnnotations(revision) },
    },
    spec: {
      serviceAccountName: gatewayName(project),
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: serve.drainDelay + serve.shutdownTimeout + 5,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: 1000,
        runAsGroup: 1000,
        fsGroup: 1000,
        seccompProfile: { type: 'RuntimeDefault' },
      },
      ...(pods.imagePullSecrets ? { imagePullSecrets: pods.imagePullSecrets.map((name) => ({ name })) } : {}),
      ...(pods.nodeSelector ? { nodeSelector: pods.nodeSelector } : {}),
      ...(pods.tolerations ? { tolerations: pods.tolerations } : {}),
      ...(pods.priorityClassName ? { priorityClassName: pods.priorityClassName } : {}),
      topologySpreadConstraints: [
        {
          maxSkew: 1,
          topologyKey: 'kubernetes.io/hostname',
          whenUnsatisfiable: 'ScheduleAnyway',
          labelSelector: { matchLabels: podLabels(project) },
        },
      ],
      ...(artifact.initContainers.length > 0 ? { initContainers: artifact.initContainers } : {}),
      containers: [gatewayContainer(project, artifact, settings)],
      volumes: [
        ...artifact.volumes,
        { name: 'tmp', emptyDir: { sizeLimit: '64Mi' } },
        ...(secrets?.directory
          ? [{ name: 'secrets', secret: { secretName: secrets.directory, defaultMode: 0o440 } }]
          : []),
        ...(link?.volumes ?? []),
      ],
    },
  };
}

/** The user's labels or annotations, without those that are ours to set. */
function foreign(map: { readonly [name: string]: string } = {}): { readonly [name: string]: string } {
  const ours = /^(gw\.dev|app\.kubernetes\.io)\//;
  return Object.fromEntries(Object.entries(map).filter(([name]) => !ours.test(name)));
}
