/** Keys of data planes over HTTP (docs/reference/control-plane.md#data-plane-keys). */
import { resource } from '../../http/resource.ts';
import { apiKeyOperations } from './operations.ts';
import type { ApiKeys } from './service.ts';

export const apiKeyResource = resource(apiKeyOperations, ({ apiKeys }: { readonly apiKeys: ApiKeys }) => ({
  'apiKeys.list': ({ actor, params, query }) => apiKeys.list(actor, params.id, query),
  'apiKeys.create': async ({ actor, params, body, reply }) => {
    const key = await apiKeys.create(actor, params.id, body);
    reply.header('location', `/projects/${params.id}/api-keys/${key.id}`).header('cache-control', 'no-store');
    return key;
  },
  'apiKeys.revoke': ({ actor, params }) => apiKeys.revoke(actor, params.id, params.key_id),
}));
