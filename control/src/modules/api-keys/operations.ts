/** Keys of data planes (docs/reference/control-plane.md#data-plane-keys). */
import { operations } from '../../api/operation.ts';
import { ArrayOf, Closed, Uuid } from '../../api/schema-types.ts';
import { ProjectParams } from '../../project-scope/project-params.ts';
import { ApiKey, ApiKeyInput, ApiKeyQuery, NewApiKey } from './schemas.ts';

const KeyParams = Closed({ ...ProjectParams.properties, key_id: Uuid('Of the key.') });
const tag = 'API keys';

export const apiKeyOperations = operations({
  'apiKeys.list': {
    tag,
    summary: 'List the API keys of a project',
    description: 'Without the keys themselves; those that were revoked, too.',
    method: 'GET',
    path: '/projects/{id}/api-keys',
    params: ProjectParams,
    query: ApiKeyQuery,
    answers: { 200: ArrayOf(ApiKey) },
    problems: ['not-found'],
  },
  'apiKeys.create': {
    tag,
    summary: 'Create an API key',
    description:
      'For data planes of the project. The key is in this answer only. An Idempotency-Key is refused (400): an answer that holds a secret is not kept.',
    method: 'POST',
    path: '/projects/{id}/api-keys',
    params: ProjectParams,
    body: ApiKeyInput,
    answers: { 201: NewApiKey },
    problems: ['not-found'],
  },
  'apiKeys.revoke': {
    tag,
    summary: 'Revoke an API key',
    description: 'At once; data planes that are connected with it are disconnected.',
    method: 'DELETE',
    path: '/projects/{id}/api-keys/{key_id}',
    params: KeyParams,
    answers: { 204: { description: 'It opens nothing any more', types: [] } },
    problems: ['not-found'],
  },
});
