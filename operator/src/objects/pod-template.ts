/** The template of gateway pods for one revision of a project. */
import type { JsonObject } from '@gw/gateway/artifact';
import { longestDrain } from '@gw/gateway/serve-options';
import type { IAffinity } from 'kubernetes-models/v1/Affinity';
import type { ILocalObjectReference } from 'kubernetes-models/v1/LocalObjectReference';
import type { IPodSpec } from 'kubernetes-models/v1/PodSpec';
import type { IPodTemplateSpec } from 'kubernetes-models/v1/PodTemplateSpec';
import type { ITopologySpreadConstraint } from 'kubernetes-models/v1/TopologySpreadConstraint';
import type { Revision } from '../api/gateway-project.ts';
import type { GatewayProject } from '../api/resources.ts';
import { isRecord } from '../kube/kube-object.ts';
import { given, type Part } from '../kube/manifest.ts';
import { artifactSource } from './artifact-volume.ts';
import { GATEWAY, gatewayContainer, type PodSettings } from './gateway-container.ts';
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
import { withPodDefaults } from './pod-defaults.ts';
import { podFaults } from './pod-faults.ts';
import { allowsImage, DEFAULT_POD_POLICY } from './pod-policy.ts';
import { patchTemplate } from './template-patch.ts';
import { tlsParts } from './tls.ts';
import { usedSecrets } from './used-secrets.ts';

/** Returns annotations that name the revision of an object. */
export function revisionAnnotations(revision: Revision): { readonly [name: string]: string } {
  return {
    [ANNOTATION_ARCHIVE]: revision.archive,
    [ANNOTATION_HASH]: revision.artifactHash,
    [ANNOTATION_REVISION]: String(revision.revision),
  };
}

/** Builds the template, with `spec.pods.template` if nothing of it is refused (see `podRefusal`). */
export function podTemplate(
  project: GatewayProject,
  revision: Revision,
  settings: PodSettings,
): Part<IPodTemplateSpec> {
  return given<IPodTemplateSpec>(judged(project, revision, settings).template);
}

/** Returns why pods are not made as the project requests; undefined if they are. */
export function podRefusal(project: GatewayProject, revision: Revision, settings: PodSettings): string | undefined {
  return judged(project, revision, settings).refusal;
}

/** Returns the template as the project requests it, or the operator's own and why the request is refused. */
function judged(
  project: GatewayProject,
  revision: Revision,
  settings: PodSettings,
): { readonly template: JsonObject; readonly refusal?: string } {
  const { policy = DEFAULT_POD_POLICY } = settings;
  // Plain JSON, without undefined members.
  const plain: JsonObject = JSON.parse(JSON.stringify(ownTemplate(project, revision, settings)));
  const inherited = policy.defaults ? withPodDefaults(plain, policy.defaults, project) : undefined;
  const own = inherited?.ok ? inherited.template : plain;
  const refused = (refusal: string) => ({ template: own, refusal });
  if (inherited && !inherited.ok) return refused(`--pod-defaults of the operator: ${inherited.message}`);
  const said = project.spec.pods.template;
  const patch = said && Object.keys(said).length > 0 ? said : undefined;
  if (patch && !policy.templatePatches)
    return refused('spec.pods.template: the operator does not allow it (--template-patches=off): remove it');
  const patched = patch ? patchTemplate(own, patch) : { ok: true as const, template: own };
  if (!patched.ok) return refused(`spec.pods.template: ${patched.message}`);
  const { template } = patched;
  if (patch && imageOf(template) !== imageOf(own))
    return refused(`spec.pods.template: set the image of the container "${GATEWAY}" in spec.pods.image`);
  const images = imagesOf(template).filter((image) => image !== '' && !allowsImage(image, settings.image, policy));
  const secrets = new Set(usedSecrets(project).map(({ name }) => name));
  const faults = podFaults({ own, template, secrets }).filter(
    ({ field }) => field === 'secret' || !policy.fields.has(field),
  );
  const told = [
    ...images.map((image) => `image "${image}" must be allowed with --allow-images of the operator`),
    ...faults.map(({ field, message }) =>
      field === 'secret'
        ? `${message}: list it in spec.secrets.template`
        : `${message} must be allowed with --allow-pod-fields ${field} of the operator`,
    ),
  ];
  const [first] = told;
  if (first === undefined) return { template };
  const more = told.length > 1 ? `; and ${told.length - 1} more` : '';
  return refused(`${patch ? 'spec.pods.template' : 'spec.pods'}: ${first}${more}`);
}

/** Returns the image of the gateway's container. */
function imageOf({ spec }: JsonObject): unknown {
  const containers: readonly unknown[] = isRecord(spec) && Array.isArray(spec['containers']) ? spec['containers'] : [];
  const own = containers.find((each) => isRecord(each) && each['name'] === GATEWAY);
  return isRecord(own) ? own['image'] : undefined;
}

function imagesOf({ spec }: JsonObject): readonly string[] {
  if (!isRecord(spec)) return [];
  const listed = [spec['containers'], spec['initContainers']].flatMap((list) => (Array.isArray(list) ? list : []));
  return [
    ...new Set(
      listed.map((each: unknown) => (isRecord(each) && typeof each['image'] === 'string' ? each['image'] : '')),
    ),
  ];
}

function ownTemplate(project: GatewayProject, revision: Revision, settings: PodSettings): Part<IPodTemplateSpec> {
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
      terminationGracePeriodSeconds: Math.ceil(longestDrain(serve.drainDelay) + serve.shutdownTimeout) + 5,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: 1000,
        runAsGroup: 1000,
        fsGroup: 1000,
        seccompProfile: { type: 'RuntimeDefault' },
      },
      imagePullSecrets:
        pullSecrets.length > 0 ? pullSecrets.map((name): Part<ILocalObjectReference> => ({ name })) : undefined,
      ...scheduling(project),
      initContainers: artifact.initContainers.length > 0 ? artifact.initContainers : undefined,
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

/** Returns the scheduling of pods: the project's, or else spread over nodes if possible. */
function scheduling(project: GatewayProject): Partial<Part<IPodSpec>> {
  const { nodeSelector, tolerations, priorityClassName, affinity, topologySpreadConstraints } = project.spec.pods;
  const labelSelector = { matchLabels: podLabels(project) };
  const overNodes: Part<ITopologySpreadConstraint> = {
    maxSkew: 1,
    topologyKey: 'kubernetes.io/hostname',
    whenUnsatisfiable: 'ScheduleAnyway',
  };
  const constraints = topologySpreadConstraints?.map((each) => given<ITopologySpreadConstraint>(each));
  return {
    nodeSelector,
    tolerations,
    priorityClassName,
    affinity: given<IAffinity>(affinity),
    topologySpreadConstraints: (constraints ?? [overNodes]).map((each) => ({ labelSelector, ...each })),
  };
}

/** Returns the user's labels or annotations, without those that the operator sets. */
function foreign(map: { readonly [name: string]: string } = {}): { readonly [name: string]: string } {
  const ours = /^(gw\.dev|app\.kubernetes\.io)\//;
  return Object.fromEntries(Object.entries(map).filter(([name]) => !ours.test(name)));
}
