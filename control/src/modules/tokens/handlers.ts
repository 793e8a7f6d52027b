/** Handlers of API tokens, and of the caller's identity. */
import { resource } from '../../http/resource.ts';
import { tokenOperations } from './operations.ts';
import type { Tokens } from './service.ts';

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
