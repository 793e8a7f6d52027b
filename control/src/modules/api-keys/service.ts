/** Data-plane keys, with which data planes authenticate (docs/reference/control-plane.md#data-plane-keys). */
import { randomUUIDv7 } from 'node:crypto';
import type { Actor } from '../../access/actor.ts';
import { notifyRevocation } from '../../access/revocations.ts';
import { type NewSecret, newSecret } from '../../access/secrets.ts';
import type { Context } from '../../context.ts';
import { ControlError } from '../../errors.ts';
import { mapPage, type Page } from '../../http/pagination.ts';
import { resource } from '../../http/resource.ts';
import { findProject, lockProject } from '../../project-scope/project-row.ts';
import { recordChange } from '../audit/record-change.ts';
import { apiKeyOperations } from './operations.ts';
import type { ApiKey, ApiKeyInput, ApiKeyQuery, NewApiKey } from './schemas.ts';
import { type ApiKeyRow, insertApiKey, listApiKeys, revokeApiKey } from './store.ts';

export class ApiKeys {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  /** Lists all keys, including revoked ones. */
  async list(actor: Actor, projectId: string, query: ApiKeyQuery = {}): Promise<Page<ApiKey>> {
    actor.mustBe('viewer', projectId, project(projectId));
    const { kysely } = this.#context.db;
    if (!(await findProject(kysely, projectId))) throw ControlError.notFound(project(projectId));
    return mapPage(await listApiKeys(kysely, projectId, query), present);
  }

  /**
   * Shows the key only this once. The last parameter is for programs that embed the control plane and chose a key
   * already.
   */
  async create(
    actor: Actor,
    projectId: string,
    { name }: ApiKeyInput,
    { secret, hash, prefix }: NewSecret = newSecret('dataPlaneKey'),
  ): Promise<NewApiKey> {
    actor.mustBe('admin', projectId, project(projectId));
    return this.#context.db.kysely.transaction().execute(async (db) => {
      if (!(await lockProject(db, projectId))) throw ControlError.notFound(project(projectId));
      const id = randomUUIDv7();
      const row = await insertApiKey(db, {
        id,
        project_id: projectId,
        name,
        key_hash: hash,
        prefix,
        created_by: actor.name,
      });
      await recordChange(db, actor, { action: 'apiKeys.create', resource: resourceOf(row), after: present(row) });
      return { id, name, key: secret, created_at: row.created_at.toISOString() };
    });
  }

  /** Takes effect at once, on all replicas, also for data planes connected with it. */
  async revoke(actor: Actor, projectId: string, id: string): Promise<void> {
    actor.mustBe('admin', projectId, project(projectId));
    const { db: database } = this.#context;
    await database.kysely.transaction().execute(async (db) => {
      const row = await revokeApiKey(db, projectId, id);
      if (!row) throw ControlError.notFound(`API key "${id}" in ${project(projectId)}, or it was revoked before`);
      const before = { ...present(row), revoked_at: null };
      await recordChange(db, actor, {
        action: 'apiKeys.revoke',
        resource: resourceOf(row),
        before,
        after: present(row),
      });
      await notifyRevocation(database.notifications, { kind: 'api-key', id }, db);
    });
  }
}

const project = (id: string): string => `project "${id}"`;

const resourceOf = ({ id, project_id }: ApiKeyRow) => ({ type: 'api-key', id, projectId: project_id });

function present(row: ApiKeyRow): ApiKey {
  return {
    id: row.id,
    name: row.name,
    prefix: row.prefix,
    created_by: row.created_by,
    created_at: row.created_at.toISOString(),
    last_used_at: row.last_used_at?.toISOString() ?? null,
    revoked_at: row.revoked_at?.toISOString() ?? null,
  };
}

/** Keys of data planes over HTTP (docs/reference/control-plane.md#data-plane-keys). */
export const apiKeyResource = resource(apiKeyOperations, ({ apiKeys }: { readonly apiKeys: ApiKeys }) => ({
  'apiKeys.list': ({ actor, params, query }) => apiKeys.list(actor, params.id, query),
  'apiKeys.create': async ({ actor, params, body, reply }) => {
    const key = await apiKeys.create(actor, params.id, body);
    reply.header('location', `/projects/${params.id}/api-keys/${key.id}`).header('cache-control', 'no-store');
    return key;
  },
  'apiKeys.revoke': ({ actor, params }) => apiKeys.revoke(actor, params.id, params.key_id),
}));
