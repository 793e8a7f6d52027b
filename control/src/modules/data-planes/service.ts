/** Data planes: the gateways in connected mode (docs/reference/control-plane.md#data-planes). */
import type { Actor } from '../../access/actor.ts';
import type { Context } from '../../context.ts';
import { ControlError } from '../../errors.ts';
import { mapPage, type Page } from '../../http/pagination.ts';
import { resource } from '../../http/resource.ts';
import { findProject } from '../../project-scope/project-row.ts';
import { recordChange } from '../audit/record-change.ts';
import { notifyDataPlanes, notifyDisconnect } from './notifications.ts';
import { dataPlaneOperations } from './operations.ts';
import { presentDataPlane } from './present.ts';
import type { DataPlane, DataPlaneQuery } from './schemas.ts';
import { type DataPlaneRow, findDataPlanes, forgetDataPlane, listDataPlanes } from './store.ts';

export class DataPlanes {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  async list(actor: Actor, projectId: string, query: DataPlaneQuery = {}): Promise<Page<DataPlane>> {
    const { kysely } = this.#context.db;
    actor.mustBe('viewer', projectId, project(projectId));
    if (!(await findProject(kysely, projectId))) throw ControlError.notFound(project(projectId));
    return mapPage(await listDataPlanes(kysely, projectId, query), presentDataPlane);
  }

  async get(actor: Actor, projectId: string, id: string): Promise<DataPlane> {
    actor.mustBe('viewer', projectId, project(projectId));
    return presentDataPlane(await this.#find(projectId, id));
  }

  /**
   * Closes its connection, at any replica, without revoking its key: it reconnects
   * (docs/reference/control-plane.md#data-planes). One that is not connected is deleted.
   */
  async disconnect(actor: Actor, projectId: string, id: string): Promise<void> {
    actor.mustBe('deployer', projectId, project(projectId));
    const row = await this.#find(projectId, id);
    const { db } = this.#context;
    await db.kysely.transaction().execute(async (tx) => {
      const forgotten = await forgetDataPlane(tx, id);
      if (forgotten) await notifyDataPlanes(db.notifications, tx, [row]);
      else await notifyDisconnect(db.notifications, tx, id);
      await recordChange(tx, actor, {
        action: 'dataPlanes.disconnect',
        resource: { type: 'data-plane', id, projectId },
        before: { name: row.name, status: row.status },
        after: forgotten ? null : { name: row.name, status: 'disconnected' },
      });
    });
  }

  async #find(projectId: string, id: string): Promise<DataPlaneRow> {
    const [row] = await findDataPlanes(this.#context.db.kysely, projectId, [id]);
    if (!row) throw ControlError.notFound(`data plane "${id}" in ${project(projectId)}`);
    return row;
  }
}

const project = (id: string): string => `project "${id}"`;

/** Data planes over HTTP (docs/reference/control-plane.md#data-planes). */
export const dataPlaneResource = resource(
  dataPlaneOperations,
  ({ dataPlanes }: { readonly dataPlanes: DataPlanes }) => ({
    'dataPlanes.list': ({ actor, params, query }) => dataPlanes.list(actor, params.id, query),
    'dataPlanes.get': ({ actor, params }) => dataPlanes.get(actor, params.id, params.dp_id),
    'dataPlanes.disconnect': ({ actor, params }) => dataPlanes.disconnect(actor, params.id, params.dp_id),
  }),
);
