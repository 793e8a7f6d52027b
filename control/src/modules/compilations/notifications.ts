/** Notifications between replicas that compilations changed; the rows contain the state. */
import type { Kysely, Selectable } from 'kysely';
import type { Notifications } from '../../db/notifications.ts';
import type { CompilationsTable, Schema } from '../../db/schema.ts';

export interface CompilationNotification {
  readonly id: string;
  readonly project_id: string | null;
  readonly status: Selectable<CompilationsTable>['status'] | 'deleted';
}

/** `by`: the transaction of the change. */
export function notifyCompilation(
  notifications: Notifications,
  { id, project_id, status }: CompilationNotification,
  by?: Kysely<Schema>,
): Promise<void> {
  return notifications.notify('compilations', JSON.stringify({ id, project_id, status }), by);
}

/** Reads a payload of the channel `compilations`, which only `notifyCompilation` writes. */
export function readCompilationNotification(payload: string): CompilationNotification {
  return JSON.parse(payload);
}
