/**
 * Effects of an object on others and of others on it: a missing plugin, equal routes of two specs, a PluginRef in use.
 * They are warnings, never refusals, so that objects can be applied in any order
 * (docs/decisions.md#webhooks-refuse-alone). They name only the object itself: a user who may write it may not be
 * allowed to read the objects around it (docs/decisions.md#webhook-paths).
 */
import { compileProject } from '@gw/control';
import { type Diagnostic, ERROR_CODES } from '@gw/gateway/compiler';
import type { ReasonName } from '../api/reasons.ts';
import type { Refusal } from '../api/refusal.ts';
import {
  type ApiSpec,
  apiSpecs,
  type Deployment,
  type GatewayProject,
  gatewayProjects,
  type PluginRef,
  pluginRefs,
} from '../api/resources.ts';
import { takesSpec } from '../controllers/api-spec/takes-spec.ts';
import { folderOf, gather } from '../controllers/gateway-project/sources/decide.ts';
import { type ReadSourcesWith, readSources } from '../controllers/gateway-project/sources/observe.ts';
import { ForeignUses } from '../controllers/plugin-ref/grants.ts';
import { takesPlugin } from '../controllers/plugin-ref/takes-plugin.ts';
import { type KubeObject, keyOf, type ObjectKey, type Resource } from '../kube/kube-object.ts';
import type { ListOptions, Objects } from '../runtime/objects.ts';
import { documentRequest, pluginRequest } from '../sources/request.ts';
import { placeLine } from './document-errors.ts';

export type CrossFindingsWith = Omit<ReadSourcesWith, 'foreignUses'>;

/** Projects are compiled one after another, so only some of those that use the document are checked. */
const MAX_PROJECTS = 3;
const MAX_DIAGNOSTICS = 5;

/** Returns the findings of projects that use a spec or plugin. */
export async function findingsOfPart(
  deps: CrossFindingsWith,
  part: ApiSpec | PluginRef,
  timeoutMs: number,
): Promise<readonly string[]> {
  const { namespace = '' } = part.metadata;
  const found = await deps.objects.list(gatewayProjects, { namespace });
  const takers = found.filter((project) => !project.metadata.deletionTimestamp && takes(project, part));
  const findings: Findings[] = [];
  for (const project of takers.slice(0, MAX_PROJECTS))
    findings.push(await findingsWith(deps, project, part, timeoutMs));
  const folder = isApiSpec(part) ? folderOf(part) : undefined;
  const isInline = isApiSpec(part) && part.spec.source.inline !== undefined;
  const isOwn = ({ file }: Diagnostic) => folder !== undefined && file?.startsWith(folder);
  const errors = findings.flatMap((each) => each.errors);
  const others = errors.filter((each) => !isOwn(each));
  const missing = findings.some(({ problems }) => problems.length > 0);
  const status = 'its status says which';
  return [
    ...shownErrors(errors.filter(isOwn).map((each) => placeLine(each, isInline))),
    ...(others.length > 0
      ? [`a GatewayProject that uses it has errors with other objects: ${titles(others)}; ${status}`]
      : []),
    ...(missing ? [`a GatewayProject that uses it lacks other objects: ${status}`] : []),
  ];
}

/**
 * Returns the findings of a proposed project: missing objects that it names, and errors of its documents and plugins.
 */
export async function findingsOfProject(
  deps: CrossFindingsWith,
  project: GatewayProject,
  timeoutMs: number,
): Promise<readonly string[]> {
  const { problems, errors } = await findingsWith(deps, project, project, timeoutMs);
  const own = problems.filter(({ reason }) => OF_ITSELF.has(reason));
  const others = problems.length - own.length;
  return [
    ...own.map(({ message }) => message),
    ...(others > 0 ? [`${others} ApiSpec(s) or plugin(s) of it are not accepted: their status says why`] : []),
    ...(errors.length > 0 ? [`it does not compile: ${titles(errors)}; its status says where`] : []),
  ];
}

interface Findings {
  readonly problems: readonly Refusal[];
  readonly errors: readonly Diagnostic[];
}

/** Reasons that name objects of the project itself; others would reveal other objects. */
const OF_ITSELF: ReadonlySet<ReasonName> = new Set(['SpecNotFound', 'PluginNotFound', 'NoSpecs']);

/** Returns findings of a project with the proposed object, which may be the project itself. */
async function findingsWith(
  deps: CrossFindingsWith,
  project: GatewayProject,
  proposed: KubeObject,
  timeoutMs: number,
): Promise<Findings> {
  const objects = withProposed(deps.objects, proposed);
  if (await needsFetching(objects, project)) return { problems: [], errors: [] };
  const reading = { ...deps, objects, foreignUses: new ForeignUses() };
  const gathered = gather(project, await readSources(reading, project));
  if (!gathered.ok) return { problems: gathered.problems, errors: [] };
  const { diagnostics } = await compileProject(gathered.inputs, { timeoutMs, owner: project.metadata.namespace ?? '' });
  return { problems: [], errors: diagnostics.filter(({ severity }) => severity === 'error') };
}

/** `E1010 (routing conflict), …`, each once. */
function titles(errors: readonly Diagnostic[]): string {
  return [...new Set(errors.map(({ code }) => `${code} (${ERROR_CODES[code].title})`))].join(', ');
}

function shownErrors(lines: readonly string[]): readonly string[] {
  const all = [...new Set(lines)];
  const shown = all.slice(0, MAX_DIAGNOSTICS);
  return all.length > shown.length ? [...shown, `and ${all.length - shown.length} more errors`] : shown;
}

/** Returns findings of a Deployment: a missing project or revision. */
export async function findingsOfDeployment(
  { objects }: CrossFindingsWith,
  { metadata, spec }: Deployment,
): Promise<readonly string[]> {
  const project = await objects.get(gatewayProjects, { namespace: metadata.namespace ?? '', name: spec.project });
  if (!project) return [`GatewayProject "${spec.project}" does not exist (yet)`];
  const { hash, revision } = spec.artifact;
  const kept = project.status?.revisions ?? [];
  const there = kept.find((each) => each.artifactHash === hash || each.revision === revision);
  if (there?.failed) return [`revision ${there.revision} failed to roll out before: its status says why`];
  if ((hash === undefined && revision === undefined) || there) return [];
  return [`GatewayProject "${spec.project}" keeps no such revision: its status says which it keeps`];
}

/** Returns the users of an object that is being deleted. */
export async function usersOf(deps: CrossFindingsWith, part: ApiSpec | PluginRef): Promise<readonly string[]> {
  const { namespace = '', name } = part.metadata;
  const found = await deps.objects.list(gatewayProjects, { namespace });
  const users = found.filter((project) => !project.metadata.deletionTimestamp && takes(project, part)).length;
  const what = `${part.kind} "${name}" is in use by ${users} GatewayProject(s)`;
  return users === 0 ? [] : [`${what}; what they serve stays in service`];
}

function takes(project: GatewayProject, part: ApiSpec | PluginRef): boolean {
  return isApiSpec(part) ? takesSpec(project, part) : takesPlugin(project, part);
}

function isApiSpec(part: ApiSpec | PluginRef): part is ApiSpec {
  return part.kind === apiSpecs.kind;
}

/** Reports whether a project needs a fetch: a review fetches nothing, and the status reports on registries and URLs. */
async function needsFetching(objects: CrossFindingsWith['objects'], project: GatewayProject): Promise<boolean> {
  const { namespace = '' } = keyOf(project);
  const specs = await objects.list(apiSpecs, { namespace });
  if (specs.some((spec) => takesSpec(project, spec) && documentRequest(spec) !== undefined)) return true;
  if ((project.spec.plugins ?? []).some((plugin) => (plugin.namespace ?? namespace) !== namespace)) return true;
  const refs = await objects.list(pluginRefs, { namespace });
  return refs.some((ref) => takesPlugin(project, ref) && pluginRequest(ref) !== undefined);
}

/** The cluster's objects with the one under review, for checks that write nothing. */
function withProposed(objects: Objects, proposed: KubeObject): Objects {
  const ofKind = ({ apiVersion, kind }: Resource<KubeObject>) =>
    apiVersion === proposed.apiVersion && kind === proposed.kind;
  const here = (namespace: string | undefined) => namespace === undefined || namespace === proposed.metadata.namespace;
  const readOnly = async (): Promise<never> => {
    throw new Error('a review writes nothing');
  };
  return {
    async get<T extends KubeObject>(resource: Resource<T>, key: ObjectKey) {
      const same = ofKind(resource) && here(key.namespace) && key.name === proposed.metadata.name;
      return same ? resource.parse(proposed) : objects.get(resource, key);
    },
    async list<T extends KubeObject>(resource: Resource<T>, options: ListOptions) {
      const found = await objects.list(resource, options);
      // Label selectors are for objects that the operator creates itself, which are not reviewed.
      if (!ofKind(resource) || !here(options.namespace) || options.labels || options.hasLabel) return found;
      const { name, namespace } = proposed.metadata;
      const others = found.filter(({ metadata }) => metadata.name !== name || metadata.namespace !== namespace);
      return [...others, resource.parse(proposed)].sort((a, b) => a.metadata.name.localeCompare(b.metadata.name));
    },
    getMetadata: (resource, key) => objects.getMetadata(resource, key),
    listMetadata: (resource, options) => objects.listMetadata(resource, options),
    serves: (resource) => objects.serves(resource),
    watch: (resource, options, onChange) => objects.watch(resource, options, onChange),
    apply: readOnly,
    applyStatus: readOnly,
    handOver: readOnly,
    remove: readOnly,
  };
}
