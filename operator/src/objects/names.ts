/** Names, labels and annotations of a GatewayProject's objects. */
import { GROUP } from '../api/schema.ts';
import type { KubeObject, ObjectMeta } from '../kube/kube-object.ts';
import { ownerReference } from '../kube/kube-object.ts';

export const LABEL_PROJECT = `${GROUP}/project`;
/**
 * The artifact_hash without its prefix, cut to the 63 characters that a label holds; the annotation has it whole
 * (docs/decisions.md#named-by-tar).
 */
export const LABEL_HASH = `${GROUP}/artifact-hash`;
export const LABEL_PART = `${GROUP}/artifact-part`;

export const ANNOTATION_HASH = `${GROUP}/artifact-hash`;
export const ANNOTATION_ARCHIVE = `${GROUP}/archive`;
export const ANNOTATION_REVISION = `${GROUP}/revision`;
export const ANNOTATION_PARTS = `${GROUP}/parts`;
/** Image in the record of an artifact in a registry: REGISTRY/REPOSITORY@DIGEST. */
export const ANNOTATION_IMAGE = `${GROUP}/image`;
/** Beside it, how that registry is reached: RegistryAccess in JSON. */
export const ANNOTATION_REGISTRY = `${GROUP}/registry`;
export const ANNOTATION_SIGNED_BY = `${GROUP}/signed-by`;
/** On a workload: an autoscaler owns its number of pods. */
export const ANNOTATION_AUTOSCALED = `${GROUP}/autoscaled`;
/** On pods: the versions of the Secrets that are their variables. */
export const ANNOTATION_SECRETS = `${GROUP}/secrets`;

/** Port for traffic, and port for health, metrics and provenance. */
export const TRAFFIC_PORT = 8080;
export const ADMIN_PORT = 8081;

export function hashLabel(artifactHash: string): string {
  return artifactHash.replace(/^sha256:/, '').slice(0, 63);
}

/** On a workload: digest of its template without the revision. */
export const ANNOTATION_TEMPLATE = `${GROUP}/template`;
/** On a workload: digest of the project's settings when its template was made. */
export const ANNOTATION_ASKED = `${GROUP}/asked`;
/** On a workload whose pods are being replaced because the operator changed: the ANNOTATION_TEMPLATE that they get. */
export const ANNOTATION_UPDATE = `${GROUP}/update`;
/** Role of a pod that is not one of the stable pods: `canary`. */
export const LABEL_ROLE = `${GROUP}/role`;
export const CANARY = 'canary';

/** Returns the name of the workload, Service, ServiceAccount, NetworkPolicy and PodDisruptionBudget of a project. */
export function gatewayName(project: KubeObject): string {
  return `${project.metadata.name}-gateway`;
}

/** Returns the name of the workload with the pods of a canary. */
export function canaryName(project: KubeObject): string {
  return `${gatewayName(project)}-canary`;
}

/** Returns the labels that select a project's pods; they never change, since a Deployment's selector cannot. */
export function podLabels(project: KubeObject): { readonly [name: string]: string } {
  return { 'app.kubernetes.io/name': 'gw-gateway', [LABEL_PROJECT]: project.metadata.name };
}

/** Returns metadata of an object that is deleted with the project. */
export function ownedMeta(project: KubeObject, name: string, extra: Partial<ObjectMeta> = {}): ObjectMeta {
  return {
    name,
    namespace: project.metadata.namespace ?? 'default',
    ...extra,
    labels: { ...podLabels(project), 'app.kubernetes.io/managed-by': 'gw-operator', ...extra.labels },
    ownerReferences: [ownerReference(project)],
  };
}
