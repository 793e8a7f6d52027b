/**
 * Notifications between replicas about data planes, and the deployments that these report on: the tables, which hold
 * the state, have changed.
 */
import type { Kysely } from 'kysely';
import type { Notifications } from '../../db/notifications.ts';
import type { Schema } from '../../db/schema.ts';

/** Rows of a project that have changed. */
interface Changed {
  readonly projectId: string;
  readonly ids: readonly string[];
}

export type DataPlaneNotification =
  | ({ readonly kind: 'changed' } & Changed)
  /** The replica that holds its connection closes it. */
  | { readonly kind: 'disconnect'; readonly id: string }
  /** It has connected elsewhere: a replica that holds an older connection of it closes that one. */
  | { readonly kind: 'moved'; readonly id: string };

/** Ids in one payload, so that it fits into a notification. */
const IDS = 100;

/** `by`: the transaction that changes it. */
export async function notifyDeployment(
  notifications: Notifications,
  by: Kysely<Schema>,
  { projectId, id }: { readonly projectId: string; readonly id: string },
): Promise<void> {
  await notifications.notify('deployments', `${projectId} ${id}`, by);
}

/** Returns null for a payload of another version. */
export function readDeploymentNotification(
  payload: string,
): { readonly projectId: string; readonly id: string } | null {
  const [projectId, id, ...more] = payload.split(' ');
  return projectId && id && more.length === 0 ? { projectId, id } : null;
}

/** `by`: the transaction that changes them. */
export async function notifyDataPlanes(
  notifications: Notifications,
  by: Kysely<Schema>,
  rows: readonly { readonly project_id: string; readonly id: string }[],
): Promise<void> {
  for (const [projectId, each] of Map.groupBy(rows, ({ project_id }) => project_id)) {
    const ids = [...new Set(each.map(({ id }) => id))];
    for (let at = 0; at < ids.length; at += IDS) {
      await notifications.notify('data_planes', `changed ${projectId} ${ids.slice(at, at + IDS).join(',')}`, by);
    }
  }
}

export async function notifyDisconnect(notifications: Notifications, by: Kysely<Schema>, id: string): Promise<void> {
  await notifications.notify('data_planes', `disconnect ${id}`, by);
}

export async function notifyMoved(notifications: Notifications, by: Kysely<Schema>, id: string): Promise<void> {
  await notifications.notify('data_planes', `moved ${id}`, by);
}

/** Returns null for a payload of another version. */
export function readDataPlaneNotification(payload: string): DataPlaneNotification | null {
  const [kind, first, second, ...more] = payload.split(' ');
  if (!first || more.length > 0) return null;
  if (kind === 'disconnect' || kind === 'moved') return { kind, id: first };
  return kind === 'changed' && second ? { kind, projectId: first, ids: second.split(',') } : null;
}
