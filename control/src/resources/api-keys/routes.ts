/** Keys of data planes over HTTP (docs/reference/control-plane.md#data-plane-keys). */
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import type { ControlPlane } from '../../control-plane.ts';
import { operation } from '../../http/operation.ts';
import { sendPage } from '../../http/pagination.ts';
import { Closed, Uuid } from '../../http/schema-types.ts';
import { ProjectParams } from '../projects/routes.ts';
import { ApiKeyInput, ApiKeyQuery, NewApiKey } from './schemas.ts';

const KeyParams = Closed({ ...ProjectParams.properties, key_id: Uuid('Of the key.') });
const tag = 'API keys';

export function apiKeyRoutes(app: FastifyInstance, { apiKeys }: ControlPlane): void {
  operation(app, {
    id: 'apiKeys.list',
    tag,
    summary: 'List the API keys of a project',
    description: 'Without the keys themselves; those that were revoked, too.',
    method: 'GET',
    url: '/projects/:id/api-keys',
    params: ProjectParams,
    query: ApiKeyQuery,
    answers: { 200: Type.Array(Type.Ref('ApiKey#')) },
    problems: ['not-found'],
    handle: async ({ actor, params, query, request, reply }) =>
      sendPage(request, reply, await apiKeys.list(actor, params.id, query)),
  });
  operation(app, {
    id: 'apiKeys.create',
    tag,
    summary: 'Create an API key',
    description:
      'For data planes of the project. The key is in this answer only. An Idempotency-Key is refused (400): an answer that holds a secret is not kept.',
    method: 'POST',
    url: '/projects/:id/api-keys',
    params: ProjectParams,
    body: ApiKeyInput,
    answers: { 201: NewApiKey },
    problems: ['not-found'],
    handle: async ({ actor, params, body, reply }) => {
      const key = await apiKeys.create(actor, params.id, body);
      reply.header('location', `/projects/${params.id}/api-keys/${key.id}`).header('cache-control', 'no-store');
      return key;
    },
  });
  operation(app, {
    id: 'apiKeys.revoke',
    tag,
    summary: 'Revoke an API key',
    description: 'At once; data planes that are connected with it are disconnected.',
    method: 'DELETE',
    url: '/projects/:id/api-keys/:key_id',
    params: KeyParams,
    answers: { 204: { description: 'It opens nothing any more', types: [] } },
    problems: ['not-found'],
    handle: async ({ actor, params, reply }) => {
      await apiKeys.revoke(actor, params.id, params.key_id);
      return reply.code(204).send();
    },
  });
}
