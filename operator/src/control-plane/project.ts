/** A GatewayProject's project at a control plane: found or made, and marked as the cluster's. */
import { type Api, ApiError, type Project } from '@gw/control/client';
import { idOf } from './answers.ts';

export interface ProjectOwner {
  /** Of the project there. */
  readonly name: string;
  /** `NAMESPACE/NAME` of the GatewayProject. */
  readonly owner: string;
}

/** Another GatewayProject has the project of this name. */
export class ProjectTaken extends Error {}

const MARK = /\n?Managed by GatewayProject (\S+): [^\n]*$/;

/** As people read it there. */
export function describedBy(description: string, owner: string): string {
  const mark = `Managed by GatewayProject ${owner}: changes of specs, plugins and upstreams here last until its next one.`;
  const own = description.replace(MARK, '').slice(0, 1500);
  return own === '' ? mark : `${own}\n${mark}`;
}

/** `id`: where it was last; one that has another name by now is renamed. Throws ProjectTaken. */
export async function ensureProject(api: Api, wanted: ProjectOwner, id: string | undefined): Promise<Project> {
  const project = await foundOrMade(api, wanted, id);
  return { ...project, id: idOf(project.id) };
}

async function foundOrMade(api: Api, { name, owner }: ProjectOwner, id: string | undefined): Promise<Project> {
  const before = id === undefined ? null : await byId(api, id);
  if (before?.name === name) return mustBeOurs(before, owner);
  const named = await byName(api, name);
  if (named) return mustBeOurs(named, owner);
  if (!before) return api.json('/projects', { method: 'POST', json: { name, description: describedBy('', owner) } });
  const { description, upstreams } = mustBeOurs(before, owner);
  return api.json(`/projects/${before.id}`, { method: 'PUT', json: { name, description, upstreams } });
}

function mustBeOurs(project: Project, owner: string): Project {
  const [, other] = MARK.exec(project.description) ?? [];
  if (other === undefined || other === owner) return project;
  throw new ProjectTaken(
    'another GatewayProject manages the project of this name: name another in spec.controlPlane.project',
  );
}

async function byId(api: Api, id: string): Promise<Project | null> {
  try {
    return await api.json<Project>(`/projects/${id}`);
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}

async function byName(api: Api, name: string): Promise<Project | null> {
  const found = await api.list<Project>('/projects', { query: { name } });
  return found.find((project) => project.name === name) ?? null;
}
