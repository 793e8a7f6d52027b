/** Whom the credentials of a request belong to (reference 3, section 5). */
import type { FastifyRequest } from 'fastify';
import { ControlError } from '../errors.ts';
import { Actor } from './actor.ts';
import { adminTokenCheck } from './admin-token.ts';

/** The token of `Authorization: Bearer …`. */
export function bearerToken(request: FastifyRequest): string {
  const header = request.headers.authorization;
  if (header === undefined) {
    throw new ControlError('unauthorized', 'send Authorization: Bearer with the admin token or an API token');
  }
  const token = /^bearer +([\x21-\x7e]+) *$/i.exec(header)?.[1];
  if (token === undefined) throw new ControlError('unauthorized', 'Authorization must be Bearer and a token');
  return token;
}

export function authenticator(adminToken: string): (request: FastifyRequest) => Promise<Actor> {
  const isAdmin = adminTokenCheck(adminToken);
  return async (request) => {
    const token = bearerToken(request);
    if (isAdmin(token)) return new Actor({ name: 'admin', role: 'admin', requestId: request.id });
    throw new ControlError('unauthorized', 'the token is not one that this server knows, or it was revoked');
  };
}
