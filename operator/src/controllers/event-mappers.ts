/** Whom a change of one object concerns among the objects that refer to it. */
import { isDeepStrictEqual } from 'node:util';
import { apiSpecs, gatewayProjects, pluginRefs } from '../api/resources.ts';
import { type KubeObject, keyOf, type ObjectKey, type Resource } from '../kube/kube-object.ts';
import type { Change, Objects } from '../runtime/objects.ts';
import type { SourceOwner } from '../sources/source.ts';
import { takesSpec } from './api-spec/takes-spec.ts';
import type { ForeignUses } from './plugin-ref/grants.ts';
import { takesPlugin } from './plugin-ref/takes-plugin.ts';

/** Ignores changes of the status alone: of objects whose spec alone matters to others. */
export function moreThanStatus({ type, object: { metadata }, before }: Change): boolean {
  if (type !== 'modified' || !before) return true;
  const { generation, uid, labels, annotations, deletionTimestamp } = metadata;
  return !isDeepStrictEqual(
    [generation, uid, labels, annotations, deletionTimestamp],
    [before.generation, before.uid, before.labels, before.annotations, before.deletionTimestamp],
  );
}

/** Reports changes of the document, also if an ApiSpec's status shows that another one was fetched. */
export function changesDocument(change: Change): boolean {
  const { inline, configMap } = apiSpecs.parseOnce(change.object).spec.source;
  return moreThanStatus(change) || (inline === undefined && configMap === undefined);
}

export type EventMapper = (change: Change) => Promise<readonly ObjectKey[]>;

/** Maps an ApiSpec to the projects that use it, or used it at their last reconcile. */
export function projectsOfSpec(objects: Objects): EventMapper {
  return async ({ object }) => {
    const { namespace, name } = keyOf(object);
    const apiSpec = apiSpecs.parseOnce(object);
    const projects = await objects.list(gatewayProjects, { namespace });
    return projects
      .filter((project) => takesSpec(project, apiSpec) || project.status?.specs?.some((spec) => spec.name === name))
      .map(keyOf);
  };
}

/** Maps a project to the ApiSpecs that it uses, or used at its last reconcile. */
export function specsOfProject(objects: Objects): EventMapper {
  return async ({ object }) => {
    const project = gatewayProjects.parseOnce(object);
    const taken = new Set(project.status?.specs?.map(({ name }) => name));
    const specs = await objects.list(apiSpecs, { namespace: keyOf(project).namespace });
    return specs
      .filter(
        (spec) =>
          taken.has(spec.metadata.name) ||
          takesSpec(project, spec) ||
          spec.status?.projects?.includes(project.metadata.name),
      )
      .map(keyOf);
  };
}

/** Maps a ConfigMap to the objects of the kind whose document or package it contains. */
export function configMapReaders<T extends MayReadConfigMap>(objects: Objects, resource: Resource<T>): EventMapper {
  return async ({ object }) => (await readingConfigMap(objects, resource, keyOf(object))).map(keyOf);
}

/** Maps a ConfigMap to the projects that use such an ApiSpec or PluginRef. */
export function projectsOfConfigMap(objects: Objects): EventMapper {
  return async ({ object }) => {
    const specs = await readingConfigMap(objects, apiSpecs, keyOf(object));
    const refs = await readingConfigMap(objects, pluginRefs, keyOf(object));
    if (specs.length + refs.length === 0) return [];
    const { namespace } = keyOf(object);
    const projects = await objects.list(gatewayProjects, { namespace });
    return projects
      .filter(
        (project) => specs.some((spec) => takesSpec(project, spec)) || refs.some((ref) => takesPlugin(project, ref)),
      )
      .map(keyOf);
  };
}

interface MayReadConfigMap extends KubeObject {
  readonly spec: {
    readonly source: { readonly configMap?: { readonly name: string; readonly more?: readonly string[] } };
  };
}

async function readingConfigMap<T extends MayReadConfigMap>(
  objects: Objects,
  resource: Resource<T>,
  { namespace, name }: ObjectKey,
): Promise<readonly T[]> {
  return (await objects.list(resource, { namespace })).filter(({ spec: { source } }) =>
    [source.configMap?.name, ...(source.configMap?.more ?? [])].includes(name),
  );
}

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
