/** Whom it concerns when there is news of a source that is fetched, or of a PluginRef that other namespaces use. */
import { apiSpecs, gatewayProjects, pluginRefs } from '../api/resources.ts';
import { keyOf, type ObjectKey } from '../kube/kube-object.ts';
import type { Objects } from '../runtime/objects.ts';
import type { SourceOwner } from '../sources/source.ts';
import { takesSpec } from './api-spec/takes-spec.ts';
import type { EventMapper } from './event-mappers.ts';
import type { ForeignUses } from './plugin-ref/grants.ts';
import { takesPlugin } from './plugin-ref/takes-plugin.ts';

/** Returns the projects that the owner's document or plugin is compiled into. */
export async function projectsOfSource(
  objects: Objects,
  foreignUses: ForeignUses,
  { kind, namespace, name }: SourceOwner,
): Promise<readonly ObjectKey[]> {
  const key = { namespace, name };
  const elsewhere = kind === 'PluginRef' ? foreignUses.of(key) : [];
  const apiSpec = kind === 'ApiSpec' ? await objects.get(apiSpecs, key) : undefined;
  const ref = kind === 'PluginRef' ? await objects.get(pluginRefs, key) : undefined;
  const projects = await objects.list(gatewayProjects, { namespace });
  const here = projects.filter(
    (project) => (apiSpec && takesSpec(project, apiSpec)) || (ref && takesPlugin(project, ref)),
  );
  return [...here.map(keyOf), ...elsewhere];
}

/** Maps a PluginRef to the projects of other namespaces that name it, even if it does not exist or refuses them. */
export function foreignProjectsOf(foreignUses: ForeignUses): EventMapper {
  return async ({ object }) => foreignUses.of(keyOf(object));
}

/** Maps a namespace to its projects that name PluginRefs of others: its labels may be what allows them. */
export function foreignUsersIn(foreignUses: ForeignUses): EventMapper {
  return async ({ object }) => foreignUses.in(object.metadata.name);
}
