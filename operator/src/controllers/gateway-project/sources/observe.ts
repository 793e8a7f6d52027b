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
  using: ReadSourcesWith,
  project: GatewayProject,
): Promise<Pick<Sources, 'specs' | 'plugins' | 'builtins'>> {
  return {
    specs: await readSpecs(using, project),
    plugins: [...(await readOwnPlugins(using, project)), ...(await readForeignPlugins(using, project))],
    builtins: await readBuiltins(using, project),
  };
}

async function readSpecs(using: ReadSourcesWith, project: GatewayProject): Promise<readonly SpecSource[]> {
  const found = await using.objects.list(apiSpecs, { namespace: namespaceOf(project) });
  const taken = found.filter((spec) => !spec.metadata.deletionTimestamp && takesSpec(project, spec));
  return Promise.all(taken.map(async (apiSpec) => ({ apiSpec, read: await readDocument(using, apiSpec) })));
}

async function readOwnPlugins(using: ReadSourcesWith, project: GatewayProject): Promise<readonly PluginSource[]> {
  const found = await using.objects.list(pluginRefs, { namespace: namespaceOf(project) });
  const taken = found.filter((ref) => !ref.metadata.deletionTimestamp && takesPlugin(project, ref));
  return Promise.all(taken.map(async (ref) => ({ ref, read: await readPlugin(using, ref) })));
}

/** Returns PluginRefs of other namespaces that the project names and that allow it. Others are treated as missing. */
export async function allowedForeignPlugins(
  using: Pick<ReadSourcesWith, 'objects' | 'namespaces'>,
  project: GatewayProject,
): Promise<readonly PluginRef[]> {
  const refs = foreignPluginKeys(project).map(async (key): Promise<readonly PluginRef[]> => {
    const ref = using.namespaces.includes(key.namespace) ? await using.objects.get(pluginRefs, key) : undefined;
    if (!ref || ref.metadata.deletionTimestamp) return [];
    return (await allows(ref, namespaceOf(project), using.namespaces)) ? [ref] : [];
  });
  return (await Promise.all(refs)).flat();
}

async function readForeignPlugins(using: ReadSourcesWith, project: GatewayProject): Promise<readonly PluginSource[]> {
  using.foreignUses.set(keyOf(project), foreignPluginKeys(project));
  const refs = await allowedForeignPlugins(using, project);
  return Promise.all(refs.map(async (ref) => ({ ref, read: await readPlugin(using, ref) })));
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
