/** Existing objects of a project, and obstacles to the missing ones. */
import type { GatewayProject } from '../../api/resources.ts';
import { controlledBy, type KubeObject, type Resource } from '../../kube/kube-object.ts';
import { LABEL_PROJECT } from '../../objects/names.ts';
import { OWNED, type OwnedObject, ownedResources } from '../../objects/owned.ts';
import { ApiError } from '../../runtime/api-server.ts';
import type { Objects } from '../../runtime/objects.ts';

export interface OwnedObjects {
  /** Metadata of those that exist and are ours. */
  readonly owned: readonly KubeObject[];
  /** Objects of others whose names the gateway requires, such as `Service "x-gateway"`. */
  readonly foreign: readonly string[];
  /** Objects of others whose names the gateway can do without. */
  readonly taken: readonly KubeObject[];
  /** Kinds that the project asks for and the cluster does not know. */
  readonly notInstalled: readonly Resource<KubeObject>[];
  /** Kinds that the project asks for and the operator's role does not let it see. */
  readonly notAllowed: readonly Resource<KubeObject>[];
}

/**
 * Reads by label, and by name those that the project requires and the labels miss: they may belong to somebody else.
 */
export async function readOwned(objects: Objects, project: GatewayProject): Promise<OwnedObjects> {
  const namespace = project.metadata.namespace ?? 'default';
  const mine = { namespace, labels: { [LABEL_PROJECT]: project.metadata.name } };
  const notInstalled = await missingKinds(objects, project);
  const forbidden = new Set<Resource<KubeObject>>();
  const labelled = await Promise.all(
    ownedResources.map((resource) =>
      objects.listMetadata(resource, mine).catch((error: unknown) => {
        // A role that is narrowed, or older than the operator, must not stop actions that it allows.
        if (!dispensable(resource) || !(error instanceof ApiError) || error.status !== 403) throw error;
        forbidden.add(resource);
        return [];
      }),
    ),
  ).then((lists) => lists.flat());
  const wanted = OWNED.filter((row) => isWanted(row, project));
  const needed = wanted.filter(
    (row) => !forbidden.has(row.resource) && !labelled.some((object) => isOf(row, project, object)),
  );
  const named = await Promise.all(
    needed.map(({ resource, name }) => objects.getMetadata(resource, { namespace, name: name(project) })),
  );
  const found = [...labelled, ...named.filter((object) => object !== undefined)].filter(
    ({ metadata }) => metadata.deletionTimestamp === undefined,
  );
  const others = found
    .filter((object) => !controlledBy(object, project))
    .flatMap((object) => {
      const row = OWNED.find((each) => isWanted(each, project) && isOf(each, project, object));
      return row ? [{ object, row }] : [];
    });
  return {
    owned: found.filter((object) => controlledBy(object, project)),
    foreign: others.filter(({ row }) => row.vital).map(({ object }) => `${object.kind} "${object.metadata.name}"`),
    taken: others.filter(({ row }) => !row.vital).map(({ object }) => object),
    notInstalled,
    notAllowed: [...new Set(wanted.map(({ resource }) => resource))].filter((resource) => forbidden.has(resource)),
  };
}

async function missingKinds(objects: Objects, project: GatewayProject): Promise<readonly Resource<KubeObject>[]> {
  const optional = OWNED.filter((row) => row.optionalApi && isWanted(row, project));
  const served = await Promise.all(optional.map(({ resource }) => objects.serves(resource)));
  return optional.filter((_, n) => !served[n]).map(({ resource }) => resource);
}

/** Reports whether the gateway works without objects of the kind. */
function dispensable(resource: Resource<KubeObject>): boolean {
  return OWNED.every((row) => row.resource !== resource || !row.vital);
}

function isWanted({ wanted }: OwnedObject, project: GatewayProject): boolean {
  return wanted?.(project) ?? true;
}

function isOf({ resource, name }: OwnedObject, project: GatewayProject, { kind, metadata }: KubeObject): boolean {
  return resource.kind === kind && name(project) === metadata.name;
}
