/** Which PluginRefs a project takes. Pure. */
import type { GatewayProject, PluginRef } from '../../api/resources.ts';
import { keyText, type ObjectKey } from '../../kube/kube-object.ts';
import { selects } from '../../runtime/selector.ts';

/** Reports whether the project takes the PluginRef of its own namespace, by name or by label. */
export function takesPlugin(project: GatewayProject, ref: PluginRef): boolean {
  const { plugins = [], pluginSelector } = project.spec;
  const named = plugins.some(({ name, pluginRef, namespace }) => {
    const isHere = namespace === undefined || namespace === project.metadata.namespace;
    return isHere && (pluginRef ?? (namespace === undefined ? undefined : name)) === ref.metadata.name;
  });
  if (named) return true;
  return pluginSelector !== undefined && selects(pluginSelector, ref.metadata.labels);
}

/** Returns the PluginRefs of other namespaces that a project names, each once. */
export function foreignPluginKeys({ metadata, spec }: GatewayProject): readonly ObjectKey[] {
  const keys = new Map<string, ObjectKey>();
  for (const { name, pluginRef, namespace } of spec.plugins ?? []) {
    if (namespace === undefined || namespace === metadata.namespace) continue;
    const key = { namespace, name: pluginRef ?? name };
    keys.set(keyText(key), key);
  }
  return [...keys.values()];
}
