/** Labels and annotations by which a pod requests a sidecar, and shows that it has one (docs/sidecars.md). */
import { createHash } from 'node:crypto';
import { GROUP } from '../api/schema.ts';
import type { ObjectKey, ObjectMeta } from '../kube/kube-object.ts';

/** On a pod or its namespace, `"true"` requests a sidecar; on a pod, `"false"` declines its namespace's request. */
export const LABEL_SIDECAR = `${GROUP}/sidecar`;
/** On a reviewed pod: its project, or SKIPPED. */
export const LABEL_INJECTED = `${GROUP}/injected`;
export const SKIPPED = 'skipped';

/** On a pod, or for all of its namespace: `[NAMESPACE/]NAME` of the GatewayProject. */
export const ANNOTATION_PROJECT = `${GROUP}/project`;
/** Name of the container port that the sidecar takes over. */
export const ANNOTATION_PORT = `${GROUP}/port`;
/** Opens the sidecar's admin port to the network: metrics for a scraper. */
export const ANNOTATION_ADMIN = `${GROUP}/admin`;
export const ANNOTATION_LOG_LEVEL = `${GROUP}/log-level`;
/** Secrets of the pod's namespace for `file://` and `env://` references, in place of the project's. */
export const ANNOTATION_SECRETS_DIRECTORY = `${GROUP}/secrets-directory`;
export const ANNOTATION_SECRETS_ENV = `${GROUP}/secrets-env`;
/** Requests and limits in place of the project's. */
export const ANNOTATION_RESOURCES = {
  'requests.cpu': `${GROUP}/cpu-request`,
  'requests.memory': `${GROUP}/memory-request`,
  'limits.cpu': `${GROUP}/cpu-limit`,
  'limits.memory': `${GROUP}/memory-limit`,
} as const;
/** Why a pod has no sidecar although its namespace requests one. */
export const ANNOTATION_SKIPPED = `${GROUP}/sidecar-skipped`;

const NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

/** Returns the project that an annotation names, seen from a namespace; undefined if the name is invalid. */
export function namedProject(text: string | undefined, namespace: string): ObjectKey | undefined {
  const parts = text?.split('/') ?? [];
  if (parts.length === 0 || parts.length > 2 || !parts.every((part) => part.length <= 63 && NAME.test(part)))
    return undefined;
  const [name = ''] = parts.slice(-1);
  return { namespace: parts.length === 2 ? (parts[0] ?? '') : namespace, name };
}

/** Returns the label value by which the pods of a project's sidecars are found, within 63 characters. */
export function injectedLabel({ namespace, name }: ObjectKey): string {
  const text = `${namespace}.${name}`;
  return text.length <= 63 ? text : createHash('sha256').update(text).digest('hex').slice(0, 40);
}

/** Returns the project whose sidecar a pod has; undefined if it has no sidecar. */
export function projectOfSidecar({ namespace = '', labels, annotations }: ObjectMeta): ObjectKey | undefined {
  const project = namedProject(annotations?.[ANNOTATION_PROJECT], namespace);
  return project && labels?.[LABEL_INJECTED] === injectedLabel(project) ? project : undefined;
}
