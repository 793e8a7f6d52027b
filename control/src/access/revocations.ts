/** Notifies all replicas of revoked credentials. */
import type { Kysely } from 'kysely';
import type { Notifications } from '../db/notifications.ts';
import type { Schema } from '../db/schema.ts';

/** A revoked credential; a deleted project revokes its keys and tokens. */
export interface Revocation {
  readonly kind: 'api-key' | 'token' | 'project';
  readonly id: string;
}

/** `db`: the transaction that revokes it. */
export function notifyRevocation(notifications: Notifications, { kind, id }: Revocation, db: Kysely<Schema>) {
  return notifications.notify('access', `${kind}:${id}`, db);
}

/** Returns null for a payload of another version. */
export function readRevocation(payload: string): Revocation | null {
  const [, kind, id] = /^(api-key|token|project):(.+)$/.exec(payload) ?? [];
  if (id === undefined || (kind !== 'api-key' && kind !== 'token' && kind !== 'project')) return null;
  return { kind, id };
}
