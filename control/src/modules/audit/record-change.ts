/** The audit log: every change, written in the transaction that makes it. */
import { randomUUIDv7 } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import type { Actor } from '../../access/actor.ts';
import type { Schema } from '../../db/schema.ts';

export interface Change {
  /** The operation, such as `projects.update`. */
  readonly action: string;
  readonly resource: { readonly type: string; readonly id: string; readonly projectId: string | null };
  /** State without secrets; null before creation and after deletion. */
  readonly before?: object | null;
  readonly after?: object | null;
}

/** `db`: the transaction of the change. */
export async function recordChange(
  db: Kysely<Schema>,
  actor: Actor,
  { action, resource, before = null, after = null }: Change,
): Promise<void> {
  await db
    .insertInto('audit_entries')
    .values({
      id: randomUUIDv7(),
      // Replicas have clocks of their own; within a transaction, now() would be when it began.
      at: sql<Date>`clock_timestamp()`,
      actor: actor.name,
      action,
      resource_type: resource.type,
      resource_id: resource.id,
      project_id: resource.projectId,
      before: before && JSON.stringify(before),
      after: after && JSON.stringify(after),
      request_id: actor.requestId,
    })
    .execute();
}
