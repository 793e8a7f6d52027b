/** The template of gateway pods: one revision of a project, as its spec says. */
import type { Revision } from '../api/gateway-project.ts';
import type { GatewayProject } from '../api/resources.ts';
import { artifactSource } from './artifact-volume.ts';
import { gatewayContainer, type PodSettings } from './gateway-container.ts';
import { linkParts } from './link.ts';
import {
  ANNOTATION_ARCHIVE,
  ANNOTATION_HASH,
  ANNOTATION_REVISION,
  ANNOTATION_SECRETS,
  gatewayName,
  LABEL_ROLE,
  podLabels,
} from './names.ts';
import { patchTemplate } from './template-patch.ts';
import { tlsParts } from './tls.ts';

/** Annotations that say which revision an object is about. */
export function revisionAnnotations(revision: Revision): { readonly [name: string]: string } {
  return {
    [ANNOTATION_ARCHIVE]: revision.archive,
    [ANNOTATION_HASH]: revision.artifactHash,
    [ANNOTATION_REVISION]: String(revision.revision),
  };
}

/** With `spec.pods.template` where that is no patch to refuse (see `templateRefusal`). */
export function podTemplate(project: GatewayProject, revision: Revision, settings: PodSettings): object {
  const template = ownTemplate(project, revision, settings);
  const patch = project.spec.pods.template;
  if (!patch) return template;
  const patched = patchTemplate(template, patch);
  return patched.ok ? patched.template : template;
}

/** Why `spec.pods.template` is refused; undefined where it is not. */
export function templateRefusal(
  project: GatewayProject,
  revision: Revision,
  settings: PodSettings,
): string | undefined {
  const patch = project.spec.pods.template;
  if (!patch) return undefined;
  const patched = patchTemplate(ownTemplate(project, revision, settings), patch);
  return patched.ok ? undefined : `spec.pods.template: ${patched.message}`;
}

function ownTemplate(project: GatewayProject, revision: Revision, settings: PodSettings): object {
  const { pods, serve, secrets } = project.spec;
  const artifact = artifactSource(project, revision, settings);
  const pullSecrets = [...new Set([...(pods.imagePullSecrets ?? []), ...artifact.imagePullSecrets])];
  const link = settings.link && linkParts(settings.link);
  const secretsVersion = settings.secretsVersion;
  return {
    metadata: {
      labels: {
        ...foreign(pods.labels),
        ...podLabels(project),
        'app.kubernetes.io/managed-by': 'gw-operator',
        ...(settings.role ? { [LABEL_ROLE]: settings.role } : {}),
      },
      annotations: {
        ...foreign(pods.annotations),
        ...revisionAnnotations(revision),
        ...(secretsVersion ? { [ANNOTATION_SECRETS]: secretsVersion } : {}),
      },
    },
    spec: {
      serviceAccountName: gatewayName(project),
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: Math.ceil(serve.drainDelay + serve.shutdownTimeout) + 5,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: 1000,
        runAsGroup: 1000,
        fsGroup: 1000,
        seccompProfile: { type: 'RuntimeDefault' },
      },
      ...(pullSecrets.length > 0 ? { imagePullSecrets: pullSecrets.map((name) => ({ name })) } : {}),
      ...scheduling(project),
      ...(artifact.initContainers.length > 0 ? { initContainers: artifact.initContainers } : {}),
      containers: [gatewayContainer(project, artifact, settings)],
      volumes: [
        ...artifact.volumes,
        { name: 'tmp', emptyDir: { sizeLimit: '64Mi' } },
        ...(secrets?.directory
          ? [{ name: 'secrets', secret: { secretName: secrets.directory, defaultMode: 0o440 } }]
          : []),
        ...tlsParts(project).volumes,
        ...(link?.volumes ?? []),
      ],
    },
  };
}

/** Where pods run: as the project says, or else spread over nodes as far as may be. */
function scheduling(project: GatewayProject): object {
  const { nodeSelector, tolerations, priorityClassName, affinity, topologySpreadConstraints } = project.spec.pods;
  const labelSelector = { matchLabels: podLabels(project) };
  const overNodes = { maxSkew: 1, topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'ScheduleAnyway' };
  return {
    ...(nodeSelector ? { nodeSelector } : {}),
    ...(tolerations ? { tolerations } : {}),
    ...(priorityClassName ? { priorityClassName } : {}),
    ...(affinity ? { affinity } : {}),
    topologySpreadConstraints: (topologySpreadConstraints ?? [overNodes]).map((each) => ({ labelSelector, ...each })),
  };
}

/** The user's labels or annotations, without those that are ours to set. */
function foreign(map: { readonly [name: string]: string } = {}): { readonly [name: string]: string } {
  const ours = /^(gw\.dev|app\.kubernetes\.io)\//;
  return Object.fromEntries(Object.entries(map).filter(([name]) => !ours.test(name)));
}
