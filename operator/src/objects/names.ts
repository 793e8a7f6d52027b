/** Names, labels and annotations of what a GatewayProject owns. */
import { GROUP } from '../api/schema.ts';
import type { KubeObject, ObjectMeta } from '../runtime/kube-object.ts';
import { ownerReference } from '../runtime/kube-object.ts';

export const LABEL_PROJECT = `${GROUP}/project`;
/** The artifact_hash without its prefix, cut to the 63 characters that a label holds; the annotation has it whole (D35). */
export const LABEL_HASH = `${GROUP}/artifact-hash`;
export const LABEL_PART = `${GROUP}/artifact-part`;

export const ANNOTATION_HASH = `${GROUP}/artifact-hash`;
export const ANNOTATION_ARCHIVE = `${GROUP}/archive`;
export const ANNOTATION_REVISION = `${GROUP}/revision`;
export const ANNOTATION_PARTS = `${GROUP}/parts`;
export const ANNOTATION_SIGNED_BY = `${GROUP}/signed-by`;

/** Where gateway pods serve traffic, and where health, metrics and provenance. */
export const TRAFFIC_PORT = 8080;
export const ADMIN_PORT = 8081;

export function hashLabel(artifactHash: string): string {
  return artifactHash.replace(/^sha256:/, '').slice(0, 63);
}

/** Name of the workload, Service, ServiceAccount, NetworkPolicy and PodDisruptionBudget of a project. */
export function gatewayName(project: KubeObject): string {
  return `${project.metadata.name}-gateway`;
}

/** What selects the pods of a project; never changes, since a Deployment's selector cannot. */
export function podLabels(project: KubeObject): { readonly [name: string]: string } {
  return { 'app.kubernetes.io/name': 'gw-gateway', [LABEL_PROJECT]: project.metadata.name };
}

/** Metadata of an object that goes when the project goes. */
export function ownedMeta(project: KubeObject, name: string, extra: Partial<ObjectMeta> = {}): ObjectMeta {
  return {
    name,
    namespace: project.metadata.namespace ?? 'default',
    ...extra,
    labels: { ...podLabels(project), 'app.kubernetes.io/managed-by': 'gw-operator', ...extra.labels },
    ownerReferences: [ownerReference(project)],
  };
}
