/** Whom a change of one object concerns among the objects that refer to it. */
import { isDeepStrictEqual } from 'node:util';
import { apiSpecs, gatewayProjects, pluginRefs } from '../api/resources.ts';
import { type KubeObject, keyOf, type ObjectKey, type Resource } from '../kube/kube-object.ts';
import type { Change, Objects } from '../runtime/objects.ts';
import { takesSpec } from './api-spec/takes-spec.ts';
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
