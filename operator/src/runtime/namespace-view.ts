/** The namespaces that an operator on a cluster watches, and their labels. */
import { namespaces } from '../api/resources.ts';
import type { Objects } from './objects.ts';
import type { NamespaceFilter } from './selected-namespaces.ts';

/** The operator's view of namespaces. */
export interface NamespaceView {
  /** Reports whether the operator watches objects of the namespace. */
  includes(namespace: string): boolean;
  /** Returns the labels of a namespace, undefined if it does not exist; absent if the operator may not read them. */
  readonly labels?: (namespace: string) => Promise<{ readonly [name: string]: string } | undefined>;
}

/** `watched`: empty means all; then labels may be read too. `filter`: selects among all namespaces. */
export function namespaceView(
  objects: Objects,
  watched: readonly string[],
  filter: NamespaceFilter | undefined,
): NamespaceView {
  if (watched.length > 0) return { includes: (namespace) => watched.includes(namespace) };
  return {
    includes: (namespace) => filter?.includes(namespace) ?? true,
    async labels(name) {
      const found = await objects.getMetadata(namespaces, { namespace: '', name });
      return found && (found.metadata.labels ?? {});
    },
  };
}
