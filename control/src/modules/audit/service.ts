/** The audit log, read. */
import type { Actor } from '../../access/actor.ts';
import type { Context } from '../../context.ts';
import { ControlError } from '../../errors.ts';
import { mapPage, type Page } from '../../http/pagination.ts';
import { resource } from '../../http/resource.ts';
import { auditOperations } from './operations.ts';
import type { AuditEntry, AuditQuery } from './schemas.ts';
import { type AuditRow, listAuditEntries } from './store.ts';

export class Audit {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  /** Lists entries. An admin of one project sees the entries of that project. */
  async list(actor: Actor, { since, until, ...query }: AuditQuery = {}): Promise<Page<AuditEntry>> {
    actor.mustHave('admin');
    if (query.project_id !== undefined) actor.mustBe('admin', query.project_id, `project "${query.project_id}"`);
    const times = {
      ...(since === undefined ? {} : { since: timeOf('since', since) }),
      ...(until === undefined ? {} : { until: timeOf('until', until) }),
    };
    return mapPage(await listAuditEntries(this.#context.db.kysely, actor.projectId, { ...query, ...times }), present);
  }
}

/** Throws for text that has the form of a time but is not one, such as with a second that no minute has. */
function timeOf(name: string, text: string): Date {
  const time = new Date(text);
  if (!Number.isNaN(time.getTime())) return time;
  throw new ControlError('bad-request', `${name} is not a time: give one such as 2030-01-31T12:00:00Z`);
}

function present(row: AuditRow): AuditEntry {
  return {
    id: row.id,
    at: row.at.toISOString(),
    actor: row.actor,
    action: row.action,
    resource_type: row.resource_type,
    resource_id: row.resource_id,
    project_id: row.project_id,
    before: row.before && { ...row.before },
    after: row.after && { ...row.after },
    request_id: row.request_id,
  };
}

/** The audit log over HTTP. */
export const auditResource = resource(auditOperations, ({ audit }: { readonly audit: Audit }) => ({
  'audit.list': ({ actor, query }) => audit.list(actor, query),
}));
