/** Reads the ApiSpecs and plugins that a GatewayProject is compiled from. */
import type { ProjectPlugin } from '@gw/gateway/compiler';
import { apiSpecs, type GatewayProject, type PluginRef, pluginRefs } from '../../../api/resources.ts';
import { keyOf } from '../../../kube/kube-object.ts';
import type { NamespaceView } from '../../../runtime/namespace-view.ts';
import { readDocument } from '../../api-spec/document.ts';
import { takesSpec } from '../../api-spec/takes-spec.ts';
import { allows, type ForeignUses } from '../../plugin-ref/grants.ts';
import { type ReadPluginWith, readPlugin } from '../../plugin-ref/plugin-package.ts';
import { foreignPluginKeys, takesPlugin } from '../../plugin-ref/takes-plugin.ts';
import type { PluginSource, Sources, SpecSource } from './decide.ts';

export interface ReadSourcesWith extends ReadPluginWith {
  readonly namespaces: NamespaceView;
  readonly foreignUses: ForeignUses;
}

export async function readSources(
  deps: ReadSourcesWith,
  project: GatewayProject,
): Promise<Pick<Sources, 'specs' | 'plugins' | 'builtins'>> {
  return {
    specs: await readSpecs(deps, project),
    plugins: [...(await readOwnPlugins(deps, project)), ...(await readForeignPlugins(deps, project))],
    builtins: await readBuiltins(deps, project),
  };
}

async function readSpecs(deps: ReadSourcesWith, project: GatewayProject): Promise<readonly SpecSource[]> {
  const found = await deps.objects.list(apiSpecs, { namespace: namespaceOf(project) });
  const taken = found.filter((spec) => !spec.metadata.deletionTimestamp && takesSpec(project, spec));
  return Promise.all(taken.map(async (apiSpec) => ({ apiSpec, read: await readDocument(deps, apiSpec) })));
}

async function readOwnPlugins(deps: ReadSourcesWith, project: GatewayProject): Promise<readonly PluginSource[]> {
  const found = await deps.objects.list(pluginRefs, { namespace: namespaceOf(project) });
  const taken = found.filter((ref) => !ref.metadata.deletionTimestamp && takesPlugin(project, ref));
  return Promise.all(taken.map(async (ref) => ({ ref, read: await readPlugin(deps, ref) })));
}

/** Returns PluginRefs of other namespaces that the project names and that allow it. Others are treated as missing. */
export async function allowedForeignPlugins(
  deps: Pick<ReadSourcesWith, 'objects' | 'namespaces'>,
  project: GatewayProject,
): Promise<readonly PluginRef[]> {
  const refs = foreignPluginKeys(project).map(async (key): Promise<readonly PluginRef[]> => {
    const ref = deps.namespaces.includes(key.namespace) ? await deps.objects.get(pluginRefs, key) : undefined;
    if (!ref || ref.metadata.deletionTimestamp) return [];
    return (await allows(ref, namespaceOf(project), deps.namespaces)) ? [ref] : [];
  });
  return (await Promise.all(refs)).flat();
}

async function readForeignPlugins(deps: ReadSourcesWith, project: GatewayProject): Promise<readonly PluginSource[]> {
  deps.foreignUses.set(keyOf(project), foreignPluginKeys(project));
  const refs = await allowedForeignPlugins(deps, project);
  return Promise.all(refs.map(async (ref) => ({ ref, read: await readPlugin(deps, ref) })));
}

async function readBuiltins(
  { catalog }: ReadSourcesWith,
  { spec }: GatewayProject,
): Promise<ReadonlyMap<string, ProjectPlugin>> {
  const builtins = new Map<string, ProjectPlugin>();
  for (const { name } of spec.plugins ?? []) {
    const plugin = await catalog.builtin(name);
    if (plugin) builtins.set(name, plugin);
  }
  return builtins;
}

function namespaceOf({ metadata }: GatewayProject): string {
  return metadata.namespace ?? 'default';
}
