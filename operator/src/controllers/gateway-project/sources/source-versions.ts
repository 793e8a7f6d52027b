/**
 * Which versions of the objects that a project reads a reconcile has seen: `kubectl gw wait` reads them in the same way
 * and compares, so that it does not take the status from before a change for one about it.
 */
import {
  apiSpecs,
  configMaps,
  deployments,
  type GatewayProject,
  type PluginRef,
  pluginRefs,
  secrets,
} from '../../../api/resources.ts';
import { type KubeObject, keyOf, type Resource } from '../../../kube/kube-object.ts';
import { usedSecrets } from '../../../objects/used-secrets.ts';
import type { Objects } from '../../../runtime/objects.ts';
import { takesSpec } from '../../api-spec/takes-spec.ts';
import { foreignPluginKeys, takesPlugin } from '../../plugin-ref/takes-plugin.ts';

export interface SourceVersion {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** `metadata.generation`, or `resourceVersion` of a kind without one. */
  readonly version: string;
}

/** Maximum number of sources in a status. */
const MOST_SOURCES = 1000;

interface Document extends KubeObject {
  readonly spec: {
    readonly source: {
      readonly configMap?: { readonly name: string; readonly more?: readonly string[] };
      readonly secret?: { readonly name: string };
    };
  };
}

export interface ReadVersions {
  /** Secrets that the project may not use. Default: empty. */
  readonly refused?: ReadonlySet<string>;
  /** PluginRefs of other namespaces that the project uses. */
  readonly foreign: readonly PluginRef[];
}

/**
 * Returns versions, sorted, read before the content: an object that changes meanwhile is recorded in its older version,
 * and read again. Objects that the reader may not read are left out.
 */
export async function sourceVersions(
  objects: Pick<Objects, 'get' | 'list'>,
  project: GatewayProject,
  { refused = new Set(), foreign }: ReadVersions,
): Promise<readonly SourceVersion[]> {
  const { namespace } = keyOf(project);
  const specs = (await objects.list(apiSpecs, { namespace })).filter((spec) => takesSpec(project, spec));
  const own = (await objects.list(pluginRefs, { namespace })).filter((ref) => takesPlugin(project, ref));
  const documents: readonly Document[] = [...specs, ...own];
  const asking = (await objects.list(deployments, { namespace })).filter(
    ({ spec }) => spec.project === project.metadata.name,
  );
  const maps = documents.flatMap(({ spec: { source } }) => [source.configMap?.name, ...(source.configMap?.more ?? [])]);
  const named = [
    ...own.map(({ spec }) => spec.source.secret?.name),
    ...usedSecrets(project)
      .map(({ name }) => name)
      .filter((name) => !refused.has(name)),
  ];
  const found = await Promise.all([
    ...existing(maps).map((name) => versionOf(objects, configMaps, namespace, name)),
    ...existing(named).map((name) => versionOf(objects, secrets, namespace, name)),
  ]);
  const kinds = [...documents, ...asking, ...foreign].map(({ kind, metadata }) => ({
    kind,
    namespace: metadata.namespace ?? namespace,
    name: metadata.name,
    version: String(metadata.generation ?? 0),
  }));
  return [...kinds, ...found.filter((each) => each !== undefined)]
    .toSorted((a, b) => a.kind.localeCompare(b.kind) || a.name.localeCompare(b.name))
    .slice(0, MOST_SOURCES);
}

function existing(names: readonly (string | undefined)[]): readonly string[] {
  return [...new Set(names.filter((name) => name !== undefined))];
}

async function versionOf(
  objects: Pick<Objects, 'get'>,
  resource: Resource<KubeObject>,
  namespace: string,
  name: string,
): Promise<SourceVersion | undefined> {
  try {
    const found = await objects.get(resource, { namespace, name });
    const version = found?.metadata.resourceVersion;
    return version === undefined ? undefined : { kind: resource.kind, namespace, name, version };
  } catch {
    return undefined;
  }
}

/** Returns the PluginRefs of other namespaces that a project names, without those that the reader may not read. */
export async function foreignPlugins(
  objects: Pick<Objects, 'get'>,
  project: GatewayProject,
): Promise<readonly PluginRef[]> {
  const found = await Promise.all(
    foreignPluginKeys(project).map((key) => objects.get(pluginRefs, key).catch(() => undefined)),
  );
  return found.filter((ref) => ref !== undefined);
}

/**
 * Returns an object that a status has not observed: one of `applied` that it names in an older version or not at all,
 * or one of `gone` that it still names. A Secret or a PluginRef of another namespace that it does not name is one that
 * the project may not use. `namespace`: the project's.
 */
export function notTakenUp(
  namespace: string,
  applied: readonly SourceVersion[],
  gone: readonly SourceVersion[],
  seen: readonly SourceVersion[] | undefined,
): SourceVersion | undefined {
  // An older operator does not record versions.
  if (seen === undefined) return undefined;
  const same = (a: SourceVersion) => (b: SourceVersion) =>
    a.kind === b.kind && a.namespace === b.namespace && a.name === b.name;
  const older = applied.find((each) => {
    const found = seen.find(same(each));
    if (found === undefined) return each.kind !== secrets.kind && each.namespace === namespace;
    return isOlder(found.version, each.version);
  });
  return older ?? gone.find((each) => seen.find(same(each))?.version === each.version);
}

/** Versions of one object are growing numbers on known API servers. */
function isOlder(version: string, than: string): boolean {
  const areNumbers = [version, than].every((each) => /^\d+$/.test(each));
  return areNumbers && BigInt(version) < BigInt(than);
}
