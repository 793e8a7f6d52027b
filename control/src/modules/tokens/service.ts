/** API tokens, with which people and programs authenticate, besides the admin token. */
import { randomUUIDv7 } from 'node:crypto';
import type { Actor } from '../../access/actor.ts';
import { notifyRevocation } from '../../access/revocations.ts';
import { newSecret } from '../../access/secrets.ts';
import type { Context } from '../../context.ts';
import { violatedConstraint } from '../../db/violations.ts';
import { ControlError } from '../../errors.ts';
import { mapPage, type Page } from '../../http/pagination.ts';
import { resource } from '../../http/resource.ts';
import { recordChange } from '../audit/record-change.ts';
import { tokenOperations } from './operations.ts';
import type { Identity, NewToken, Token, TokenInput, TokenQuery } from './schemas.ts';
import { insertToken, isInFuture, listTokens, revokeToken, type TokenRow } from './store.ts';

export class Tokens {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  /** Lists all, including revoked and expired ones. An admin of one project sees those of that project. */
  async list(actor: Actor, query: TokenQuery = {}): Promise<Page<Token>> {
    actor.mustHave('admin');
    return mapPage(await listTokens(this.#context.db.kysely, actor.projectId, query), present);
  }

  /** Shows the token only this once. An admin of one project creates tokens for that project alone. */
  async create(actor: Actor, input: TokenInput): Promise<NewToken> {
    const { name, role, project_id: projectId = null, expires_at: until = null } = input;
    if (projectId === null) actor.mustBeGlobal('admin');
    else actor.mustBe('admin', projectId, `project "${projectId}"`);
    const expiresAt = until === null ? null : await this.#future(until);
    const { secret, hash, prefix } = newSecret('apiToken');
    const id = randomUUIDv7();
    try {
      return await this.#context.db.kysely.transaction().execute(async (db) => {
        const row = await insertToken(db, {
          id,
          name,
          token_hash: hash,
          prefix,
          role,
          project_id: projectId,
          expires_at: expiresAt,
          created_by: actor.name,
        });
        await recordChange(db, actor, { action: 'tokens.create', resource: resourceOf(row), after: present(row) });
        return { ...present(row), token: secret };
      });
    } catch (error) {
      const constraint = violatedConstraint(error);
      if (constraint === 'api_tokens_project') throw ControlError.notFound(`project "${projectId}"`);
      if (constraint !== 'api_tokens_name_unique') throw error;
      throw new ControlError('conflict', `there is a token "${name}": choose another name, or revoke it first`);
    }
  }

  /** Takes effect at once, on all replicas; open streams of the token end. */
  async revoke(actor: Actor, id: string): Promise<void> {
    actor.mustHave('admin');
    const { db: database } = this.#context;
    await database.kysely.transaction().execute(async (db) => {
      const row = await revokeToken(db, actor.projectId, id);
      if (!row) throw ControlError.notFound(`token "${id}", or it was revoked before`);
      // Another token may get the name next, and must not get this one's stored answers.
      await db.deleteFrom('idempotency_keys').where('actor', '=', `token:${row.name}`).execute();
      const before = { ...present(row), revoked_at: null };
      await recordChange(db, actor, {
        action: 'tokens.revoke',
        resource: resourceOf(row),
        before,
        after: present(row),
      });
      await notifyRevocation(database.notifications, { kind: 'token', id }, db);
    });
  }

  /** Throws for a time that is past, or in no calendar. */
  async #future(text: string): Promise<Date> {
    const time = new Date(text);
    if (!Number.isNaN(time.getTime()) && (await isInFuture(this.#context.db.kysely, time))) return time;
    const message = 'must be a time in the future';
    throw new ControlError('unprocessable', `expires_at ${message}`, { errors: [{ pointer: '/expires_at', message }] });
  }

  whoami(actor: Actor): Identity {
    return {
      actor: actor.name,
      role: actor.role,
      project_id: actor.projectId,
      expires_at: actor.expiresAt?.toISOString() ?? null,
    };
  }
}

const resourceOf = ({ id, project_id }: TokenRow) => ({ type: 'token', id, projectId: project_id });

function present(row: TokenRow): Token {
  return {
    id: row.id,
    name: row.name,
    prefix: row.prefix,
    role: row.role,
    project_id: row.project_id,
    created_by: row.created_by,
    created_at: row.created_at.toISOString(),
    expires_at: row.expires_at?.toISOString() ?? null,
    last_used_at: row.last_used_at?.toISOString() ?? null,
    revoked_at: row.revoked_at?.toISOString() ?? null,
  };
}

/** Handlers of API tokens, and of the caller's identity. */
export const tokenResource = resource(tokenOperations, ({ tokens }: { readonly tokens: Tokens }) => ({
  'tokens.list': ({ actor, query }) => tokens.list(actor, query),
  'tokens.create': async ({ actor, body, reply }) => {
    const token = await tokens.create(actor, body);
    reply.header('location', `/tokens/${token.id}`).header('cache-control', 'no-store');
    return token;
  },
  'tokens.revoke': ({ actor, params }) => tokens.revoke(actor, params.id),
  'tokens.whoami': ({ actor }) => tokens.whoami(actor),
}));
