/** API tokens over HTTP, and who the caller is. */
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import type { ControlPlane } from '../../control-plane.ts';
import { operation } from '../../http/operation.ts';
import { sendPage } from '../../http/pagination.ts';
import { Closed, Uuid } from '../../http/schema-types.ts';
import { Identity, NewToken, TokenInput, TokenQuery } from './schemas.ts';

const TokenParams = Closed({ id: Uuid('Of the token.') });
const tag = 'Access';

export function tokenRoutes(app: FastifyInstance, { tokens }: ControlPlane): void {
  operation(app, {
    id: 'tokens.list',
    tag,
    summary: 'List API tokens',
    description: 'Without the tokens themselves; those that were revoked, too. Needs the role `admin`.',
    method: 'GET',
    url: '/tokens',
    query: TokenQuery,
    answers: { 200: Type.Array(Type.Ref('Token#')) },
    handle: async ({ actor, query, request, reply }) => sendPage(request, reply, await tokens.list(actor, query)),
  });
  operation(app, {
    id: 'tokens.create',
    tag,
    summary: 'Create an API token',
    description:
      'Needs the role `admin`, of all projects or of that of the token. The token is in this answer only. An Idempotency-Key is refused (400): an answer that holds a secret is not kept.',
    method: 'POST',
    url: '/tokens',
    body: TokenInput,
    answers: { 201: NewToken },
    problems: ['not-found', 'conflict'],
    handle: async ({ actor, body, reply }) => {
      const token = await tokens.create(actor, body);
      reply.header('location', `/tokens/${token.id}`).header('cache-control', 'no-store');
      return token;
    },
  });
  operation(app, {
    id: 'tokens.revoke',
    tag,
    summary: 'Revoke an API token',
    description: 'At once; event streams that are open with it end. Needs the role `admin`.',
    method: 'DELETE',
    url: '/tokens/:id',
    params: TokenParams,
    answers: { 204: { description: 'It opens nothing any more', types: [] } },
    problems: ['not-found'],
    handle: async ({ actor, params, reply }) => {
      await tokens.revoke(actor, params.id);
      return reply.code(204).send();
    },
  });
  operation(app, {
    id: 'tokens.whoami',
    tag,
    summary: 'Ask who the caller is',
    method: 'GET',
    url: '/whoami',
    answers: { 200: Identity },
    handle: ({ actor }) => tokens.whoami(actor),
  });
}
