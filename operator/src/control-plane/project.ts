/** A GatewayProject's project at a control plane: found or created, and marked as the cluster's. */
import type { ControlClient, Project } from '@gw/control/client';
import { idOf } from './answers.ts';

export interface ProjectOwner {
  /** Name of the project at the control plane. */
  readonly name: string;
  /** `NAMESPACE/NAME` of the GatewayProject. */
  readonly owner: string;
}

/** Another GatewayProject owns the project of this name. */
export class ProjectTaken extends Error {}

const MARK = /\n?Managed by GatewayProject (\S+): [^\n]*$/;

/** Returns the description for people at the control plane. */
export function describedBy(description: string, owner: string): string {
  const mark = `Managed by GatewayProject ${owner}: changes of specs, plugins and upstreams here last until its next one.`;
  const own = description.replace(MARK, '').slice(0, 1500);
  return own === '' ? mark : `${own}\n${mark}`;
}

/**
 * Creates the project if it does not exist. `id`: its last known identifier; renames a project whose name has changed.
 * Throws ProjectTaken.
 */
export async function ensureProject(
  client: ControlClient,
  wanted: ProjectOwner,
  id: string | undefined,
): Promise<Project> {
  const project = await foundOrMade(client, wanted, id);
  return { ...project, id: idOf(project.id) };
}

async function foundOrMade(client: ControlClient, { name, owner }: ProjectOwner, id: string | undefined) {
  const before = id === undefined ? null : await client.find('projects.get', { params: { id } });
  if (before?.name === name) return mustBeOurs(before, owner);
  const named = await byName(client, name);
  if (named) return mustBeOurs(named, owner);
  if (!before) return client.call('projects.create', { body: { name, description: describedBy('', owner) } });
  const { description, upstreams, mcp } = mustBeOurs(before, owner);
  return client.call('projects.update', { params: { id: before.id }, body: { name, description, upstreams, mcp } });
}

function mustBeOurs(project: Project, owner: string): Project {
  const [, other] = MARK.exec(project.description) ?? [];
  if (other === undefined || other === owner) return project;
  throw new ProjectTaken(
    'another GatewayProject manages the project of this name: name another in spec.controlPlane.project',
  );
}

async function byName(client: ControlClient, name: string): Promise<Project | null> {
  const found = await client.list('projects.list', { query: { name } });
  return found.find((project) => project.name === name) ?? null;
}
