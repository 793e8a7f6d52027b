/**
 * What an object would mean for others, and others for it: a plugin that is not there, routes of two specs that are
 * the same, a PluginRef that is in use. Warnings, never refusals, so that objects can be applied in any order (D37).
 */
import { compileProject } from '@gw/control';
import {
  type ApiSpec,
  apiSpecs,
  type Deployment,
  type GatewayProject,
  gatewayProjects,
  type PluginRef,
  pluginRefs,
} from '../api/resources.ts';
import { gather, takesPlugin, takesSpec } from '../controllers/gateway-project/gather.ts';
import { type ReadSourcesWith, readSources } from '../controllers/gateway-project/read-sources.ts';
import { ForeignUses } from '../controllers/plugin-ref/grants.ts';
import { type KubeObject, keyOf } from '../runtime/kube-object.ts';
import { documentRequest, pluginRequest } from '../sources/request.ts';
import { diagnosticLine } from './document-errors.ts';
import { withProposed } from './proposed-objects.ts';

export type CrossFindingsWith = Omit<ReadSourcesWith, 'foreignUses'>;

/** Projects are compiled one after another: a document that many take is not looked at for all of them. */
const MAX_PROJECTS = 3;
const MAX_DIAGNOSTICS = 5;

/** Of a spec or plugin: what the projects that take it would say, and do not say without it. */
export async function findingsOfPart(
  using: CrossFindingsWith,
  part: ApiSpec | PluginRef,
  timeoutMs: number,
): Promise<readonly string[]> {
  const { namespace = '' } = part.metadata;
  const found = await using.objects.list(gatewayProjects, { namespace });
  const takers = found.filter((project) => !project.metadata.deletionTimestamp && takes(project, part));
  const warnings: string[] = [];
  for (const project of takers.slice(0, MAX_PROJECTS))
    warnings.push(...(await findingsOfProject(using, project, part, timeoutMs)));
  return warnings;
}

/** Of a project as it would be with the proposed object, which may be itself. */
export async function findingsOfProject(
  using: CrossFindingsWith,
  project: GatewayProject,
  proposed: KubeObject,
  timeoutMs: number,
): Promise<readonly string[]> {
  const objects = withProposed(using.objects, proposed);
  if (await needsFetching(objects, project)) return [];
  const reading = { ...using, objects, foreignUses: new ForeignUses() };
  const gathered = gather(project, await readSources(reading, project));
  const text = (message: string) => `GatewayProject "${project.metadata.name}": ${message}`;
  if (!gathered.ok) return gathered.problems.map(({ message }) => text(message));
  const { diagnostics } = await compileProject(gathered.inputs, { timeoutMs });
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  const shown = errors.slice(0, MAX_DIAGNOSTICS).map((each) => text(diagnosticLine(each)));
  return errors.length > shown.length ? [...shown, text(`${errors.length - shown.length} more errors`)] : shown;
}

/** Of a Deployment: whether there is what it asks for. */
export async function findingsOfDeployment(
  { objects }: CrossFindingsWith,
  { metadata, spec }: Deployment,
): Promise<readonly string[]> {
  const project = await objects.get(gatewayProjects, { namespace: metadata.namespace ?? '', name: spec.project });
  if (!project) return [`GatewayProject "${spec.project}" does not exist (yet)`];
  const { hash, revision } = spec.artifact;
  const kept = project.status?.revisions ?? [];
  const there = kept.some((each) => each.artifactHash === hash || each.revision === revision);
  if ((hash === undefined && revision === undefined) || there) return [];
  const numbers = kept.map((each) => each.revision).join(', ') || 'none';
  return [`GatewayProject "${spec.project}" keeps no such revision (it keeps ${numbers})`];
}

/** Of an object that is deleted: who still names it. */
export async function usersOf(using: CrossFindingsWith, part: ApiSpec | PluginRef): Promise<readonly string[]> {
  const { namespace = '', name } = part.metadata;
  const found = await using.objects.list(gatewayProjects, { namespace });
  return found
    .filter((project) => !project.metadata.deletionTimestamp && takes(project, part))
    .map(
      ({ metadata }) =>
        `${part.kind} "${name}" is in use by GatewayProject "${metadata.name}"; what it serves goes on being served`,
    );
}

function takes(project: GatewayProject, part: ApiSpec | PluginRef): boolean {
  return isApiSpec(part) ? takesSpec(project, part) : takesPlugin(project, part);
}

function isApiSpec(part: ApiSpec | PluginRef): part is ApiSpec {
  return part.kind === apiSpecs.kind;
}

/** A review fetches nothing: what depends on registries and URLs is for the status to say. */
async function needsFetching(objects: CrossFindingsWith['objects'], project: GatewayProject): Promise<boolean> {
  const { namespace = '' } = keyOf(project);
  const specs = await objects.list(apiSpecs, { namespace });
  if (specs.some((spec) => takesSpec(project, spec) && documentRequest(spec) !== undefined)) return true;
  if ((project.spec.plugins ?? []).some((plugin) => (plugin.namespace ?? namespace) !== namespace)) return true;
  const refs = await objects.list(pluginRefs, { namespace });
  return refs.some((ref) => takesPlugin(project, ref) && pluginRequest(ref) !== undefined);
}
