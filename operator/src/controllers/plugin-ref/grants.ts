/** The namespaces that may use a PluginRef, and those that do (spec.allowedNamespaces). */

import type { PluginRef } from '../../api/resources.ts';
import { keyText, type ObjectKey } from '../../kube/kube-object.ts';
import type { NamespaceView } from '../../runtime/namespace-view.ts';
import { selects } from '../../runtime/selector.ts';

/** Reports whether objects of the namespace may use it. */
export function allows(ref: PluginRef, namespace: string, view: NamespaceView): Promise<boolean> {
  return admits(ref.metadata.namespace, ref.spec.allowedNamespaces, namespace, view);
}

type Grant = PluginRef['spec']['allowedNamespaces'];

/** Reports whether an object in the namespace `own` with these grants may be used from another. */
export async function admits(
  own: string | undefined,
  grant: Grant,
  namespace: string,
  view: NamespaceView,
): Promise<boolean> {
  if (own === namespace) return true;
  const { names, selector } = grant ?? {};
  if (names?.includes(namespace)) return true;
  if (!selector || !view.labels) return false;
  const labels = await view.labels(namespace);
  return labels !== undefined && selects(selector, labels);
}

/** Which projects name PluginRefs of other namespaces, whether those are there or not. */
export class ForeignUses {
  readonly #uses = new Map<string, { readonly project: ObjectKey; readonly refs: ReadonlySet<string> }>();

  /** Records the PluginRefs that the project names now. */
  set(project: ObjectKey, refs: readonly ObjectKey[]): void {
    if (refs.length === 0) this.#uses.delete(keyText(project));
    else this.#uses.set(keyText(project), { project, refs: new Set(refs.map(keyText)) });
  }

  /** Returns the projects that name it. */
  of(ref: ObjectKey): readonly ObjectKey[] {
    const text = keyText(ref);
    return [...this.#uses.values()].filter(({ refs }) => refs.has(text)).map(({ project }) => project);
  }

  /** Returns the projects of the namespace that name any. */
  in(namespace: string): readonly ObjectKey[] {
    return [...this.#uses.values()].map(({ project }) => project).filter((project) => project.namespace === namespace);
  }
}
