/** Whom the credentials of a request belong to (docs/reference/control-plane.md#open-endpoints). */

import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ControlError } from '../errors.ts';
import type { Access, Credentials } from './access.ts';
import { Actor, type ActorOptions, type Role } from './actor.ts';
import type { OidcTokens } from './oidc.ts';

/** An API token that is valid now. */
interface KnownToken {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly project_id: string | null;
  readonly expires_at: Date | null;
  /** Milliseconds until then. */
  readonly expires_in_ms: number | null;
}

/** A data-plane key that is valid now. */
export interface KnownApiKey {
  readonly id: string;
  readonly projectId: string;
  readonly name: string;
}

/** Store of credentials. Both methods mark the found ones as used. */
interface CredentialStore {
  findToken(token: string): Promise<KnownToken | undefined>;
  findApiKey(key: string): Promise<KnownApiKey | null>;
}

export interface AuthenticatorOptions {
  /** GW_CONTROL_ADMIN_TOKEN. */
  readonly adminToken: string;
  readonly store: CredentialStore;
  readonly access: Access;
  /** Null: OIDC tokens are not accepted. */
  readonly oidc: OidcTokens | null;
}

/** Throws `unauthorized` if the request has no credentials, or invalid ones. */
export type Authenticate = (request: FastifyRequest, reply: FastifyReply) => Promise<Actor>;

/** The caller, and the credentials that it depends on. */
type Found = ActorOptions & { readonly credentials?: Credentials };

export function authenticator({ adminToken, store, access, oidc }: AuthenticatorOptions): Authenticate {
  const isAdmin = adminTokenCheck(adminToken);

  async function find(token: string, request: FastifyRequest): Promise<Found | null> {
    if (isAdmin(token)) return { name: 'admin', role: 'admin' };
    const known = await store.findToken(token);
    if (known) {
      const { id, name, role, project_id: projectId, expires_at: expiresAt, expires_in_ms: expiresInMs } = known;
      return {
        name: `token:${name}`,
        role,
        projectId,
        expiresAt,
        credentials: { tokenId: id, projectId, expiresInMs },
      };
    }
    if (request.routeOptions.config.dataPlaneKey) {
      const key = await store.findApiKey(token);
      if (key) {
        const { id, name, projectId } = key;
        const credentials = { keyId: id, projectId };
        return { name: `data-plane:${name}`, role: 'viewer', isDataPlane: true, projectId, credentials };
      }
    }
    const identity = await oidc?.identify(token);
    if (!identity) return null;
    const { subject, role, projectId, expiresAt } = identity;
    // Expiry as verified, by this clock.
    const expiresInMs = expiresAt.getTime() - Date.now();
    return { name: `oidc:${subject}`, role, projectId, expiresAt, credentials: { projectId, expiresInMs } };
  }

  return async (request, reply) => {
    const found = await find(bearerToken(request), request);
    // One message for every fault, so that it does not reveal how close a guess was.
    if (!found) throw new ControlError('unauthorized', 'the token does not grant access here, or is no longer valid');
    const { credentials, ...options } = found;
    const watch = () => {
      const { signal, release } = access.watch(credentials ?? {});
      reply.raw.once('close', release);
      return signal;
    };
    return new Actor({ ...options, requestId: request.id, ...(credentials ? { watch } : {}) });
  };
}

/**
 * Returns the token of `Authorization: Bearer …` (RFC 6750, section 2.1). On pages for browsers, which prompt for a
 * name and a password, the token may also be the password (RFC 7617).
 */
function bearerToken({ headers: { authorization }, routeOptions: { config } }: FastifyRequest): string {
  const basic = config.browsable ? /^basic +([A-Za-z0-9+/]+={0,2}) *$/i.exec(authorization ?? '')?.[1] : undefined;
  if (basic !== undefined)
    return Buffer.from(basic, 'base64')
      .toString('utf8')
      .replace(/^[^:]*:/, '');
  const token = /^bearer +([\x21-\x7e]+) *$/i.exec(authorization ?? '')?.[1];
  if (token !== undefined) return token;
  throw new ControlError('unauthorized', 'send Authorization: Bearer with the admin token or an API token');
}

/** Compares digests, in a time that does not reveal how much of the token was right. */
function adminTokenCheck(token: string): (given: string) => boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  const expected = digest(token);
  return (given) => timingSafeEqual(digest(given), expected);
}
