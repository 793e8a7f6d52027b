/** The mutating webhook on pods: decides whether a pod gets a sidecar, and of which project. */
import { type GatewayProject, gatewayProjects, namespaces, services } from '../api/resources.ts';
import { reservedVariables } from '../controllers/gateway-project/secrets/observe-pod-secrets.ts';
import { readSigningKeys } from '../controllers/gateway-project/secrets/observe-signing-keys.ts';
import { admits } from '../controllers/plugin-ref/grants.ts';
import { isRecord, type KubeObject, keyText, type ObjectKey } from '../kube/kube-object.ts';
import type { Link } from '../objects/link.ts';
import { allowsImage, DEFAULT_POD_POLICY, type PodPolicy } from '../objects/pod-policy.ts';
import { usedSecrets } from '../objects/used-secrets.ts';
import type { NamespaceView } from '../runtime/namespace-view.ts';
import type { Objects } from '../runtime/objects.ts';
import { selects } from '../runtime/selector.ts';
import { ungranted } from '../secrets/grants.ts';
import { hasSidecar, inject, portOf, skip } from '../sidecar/inject.ts';
import { ANNOTATION_PROJECT, LABEL_SIDECAR, namedProject } from '../sidecar/labels.ts';
import type { ClusterVersion } from '../sidecar/named-ports.ts';
import { type PodToInject, readPod } from '../sidecar/pod.ts';
import type { AdmissionAnswer, AdmissionRequest } from './admission.ts';

export interface InjectorWith {
  readonly objects: Objects;
  readonly namespaces: NamespaceView;
  /** Namespace of the operator, whose pods are never touched. */
  readonly operatorNamespace: string;
  /** Image if the project names none. */
  readonly image: string;
  /** How far projects may go with their pods. Default: DEFAULT_POD_POLICY. */
  readonly policy?: PodPolicy;
  /** Absent: the operator has no link, and sidecars keep their first artifact. */
  readonly linkOf?: (project: GatewayProject) => Link;
  readonly version: () => Promise<ClusterVersion>;
}

const ADMITTED: AdmissionAnswer = { allowed: true };

/**
 * Injects a sidecar or refuses a pod that asks by its own label: a typing error must not leave it open. A pod whose
 * namespace asks for a sidecar but that cannot have one is admitted, marked, with a warning. API servers send only pods
 * that ask in one of these ways.
 */
export async function reviewPod(deps: InjectorWith, request: AdmissionRequest): Promise<AdmissionAnswer> {
  if (request.operation !== 'CREATE' || request.namespace === deps.operatorNamespace) return ADMITTED;
  const pod = readPod(request.object);
  if (!pod) return { allowed: true, warnings: ['gw: the pod could not be read, and has no sidecar'] };
  const asked = pod.metadata.labels?.[LABEL_SIDECAR];
  if (asked === 'false' || hasSidecar(pod)) return ADMITTED;
  const { namespace } = request;
  const without = (reason: string): AdmissionAnswer =>
    asked === 'true'
      ? refused(`it requests a gw sidecar but cannot have one: ${reason}`)
      : { allowed: true, warnings: [`gw: no sidecar for this pod: ${reason}`], patch: skip(pod, reason) };

  const { text: version, findsSidecars } = await deps.version();
  if (!findsSidecars)
    return without(`this cluster is Kubernetes ${version}, and Services find the ports of sidecars from 1.32 on`);
  const port = portOf(pod);
  if (!port.ok) return without(port.reason);
  const named = pod.metadata.annotations?.[ANNOTATION_PROJECT] ?? (await projectOfNamespace(deps, namespace));
  const key = namedProject(named, namespace);
  if (!key)
    return without(
      named === undefined
        ? `no annotation ${ANNOTATION_PROJECT} names a GatewayProject`
        : `annotation ${ANNOTATION_PROJECT} must be NAME or NAMESPACE/NAME`,
    );
  const project = await usableProject(deps, key, namespace);
  if (!project)
    return refused(
      `GatewayProject "${keyText(key)}" does not exist, or its spec.sidecar.allowedNamespaces does not name "${namespace}"`,
    );
  const beyond = await beyondPolicy(deps, project, namespace);
  if (beyond !== undefined) return without(beyond);
  const keys = await readSigningKeys(deps.objects, project);
  if ((keys.signing && !keys.signing.ok) || keys.problems.length > 0)
    return refused('keys of its GatewayProject cannot be read: the status of that says which');
  const link = deps.linkOf?.(project);
  if (!link && key.namespace !== namespace)
    return without(
      'the operator has no link (--link-service), without which sidecars in other namespaces get no artifact',
    );
  const settings = { image: deps.image, trustedKeys: keys.trusted, ...(link ? { link } : {}) };
  const injection = inject(pod, namespace, project, settings);
  if (!injection.ok) return without(injection.reason);
  const passing = await servicesByNumber(deps.objects, pod, namespace, port.number, port.name);
  return {
    allowed: true,
    patch: injection.patch,
    warnings: [...injection.warnings, ...passing].map((each) => `gw: ${each}`),
  };
}

/**
 * Returns why the project may not have its settings in a pod (docs/decisions.md#resulting-pod). Secrets that the pod
 * itself names are the responsibility of its owner.
 */
async function beyondPolicy(
  { objects, image: own, policy = DEFAULT_POD_POLICY }: InjectorWith,
  project: GatewayProject,
  namespace: string,
): Promise<string | undefined> {
  const image = project.spec.pods.image ?? own;
  if (!allowsImage(image, own, policy))
    return 'the image of its GatewayProject must be allowed with --allow-images of the operator';
  // In another namespace, pods get nothing of the project's own except the keys that it trusts.
  const here = project.metadata.namespace === namespace;
  const variables = here && !policy.fields.has('env') ? (project.spec.secrets?.env ?? []) : [];
  if ((await reservedVariables(objects, namespace, variables)).length > 0)
    return 'a Secret of its GatewayProject would set variables that must be allowed: its status says which';
  if (!policy.secretGrants) return undefined;
  const given = here ? /^spec\.(pods|secrets|serve|signing)\./ : /^spec\.signing\./;
  const used = usedSecrets(project).filter(({ field }) => given.test(field));
  const refusals = await ungranted(objects, project, used);
  return refusals.length > 0
    ? 'its GatewayProject may not use a Secret that it names: its status says which'
    : undefined;
}

function refused(message: string): AdmissionAnswer {
  return { allowed: false, message };
}

async function projectOfNamespace(
  { objects, namespaces: view }: InjectorWith,
  name: string,
): Promise<string | undefined> {
  // An operator that watches only some namespaces may not read their annotations.
  if (!view.labels) return undefined;
  const found = await objects.getMetadata(namespaces, { namespace: '', name });
  return found?.metadata.annotations?.[ANNOTATION_PROJECT];
}

/** Finds the project. Absent and not granted give the same answer, so that nobody can probe other namespaces. */
async function usableProject(
  { objects, namespaces: view }: InjectorWith,
  key: ObjectKey,
  namespace: string,
): Promise<GatewayProject | undefined> {
  if (!view.includes(key.namespace)) return undefined;
  const project = await objects.get(gatewayProjects, key);
  if (!project || project.metadata.deletionTimestamp) return undefined;
  const granted = await admits(key.namespace, project.spec.sidecar.allowedNamespaces, namespace, view);
  return granted ? project : undefined;
}

/** Returns Services that select the pod and use the app's port by its number: they bypass the sidecar. */
async function servicesByNumber(
  objects: Objects,
  pod: PodToInject,
  namespace: string,
  number: number,
  name: string,
): Promise<readonly string[]> {
  const found = await objects.list(services, { namespace });
  const past = found.filter((service) => looksFor(service, pod.metadata.labels ?? {}, number)).length;
  return past === 0
    ? []
    : [`${past} Service(s) bypass the sidecar: their targetPort is ${number}, but must be "${name}"`];
}

function looksFor(service: KubeObject, labels: { readonly [name: string]: string }, number: number): boolean {
  const spec: unknown = 'spec' in service ? service.spec : undefined;
  if (!isRecord(spec) || !isRecord(spec['selector']) || !Array.isArray(spec['ports'])) return false;
  const matchLabels = Object.fromEntries(Object.entries(spec['selector']).map(([key, value]) => [key, String(value)]));
  if (Object.keys(matchLabels).length === 0 || !selects({ matchLabels }, labels)) return false;
  return spec['ports'].some((port: unknown) => isRecord(port) && port['targetPort'] === number);
}
