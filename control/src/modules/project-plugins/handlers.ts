/** The plugins of projects over HTTP (docs/reference/control-plane.md#project-plugins). */
import { ifMatch } from '../../http/etag.ts';
import { resource } from '../../http/resource.ts';
import { projectPluginOperations } from './operations.ts';
import type { ProjectPlugins } from './service.ts';

export const projectPluginResource = resource(
  projectPluginOperations,
  ({ projectPlugins }: { readonly projectPlugins: ProjectPlugins }) => ({
    'projectPlugins.list': ({ actor, params, query }) => projectPlugins.list(actor, params.id, query),
    'projectPlugins.add': async ({ actor, params, body, reply }) => {
      const added = await projectPlugins.add(actor, params.id, body);
      reply.header('location', `/projects/${params.id}/plugins/${added.plugin_name}`).header('etag', added.etag);
      return added;
    },
    'projectPlugins.update': async ({ actor, params, body, request, reply }) => {
      const updated = await projectPlugins.update(actor, params.id, params.name, body, ifMatch(request));
      reply.header('etag', updated.etag);
      return updated;
    },
    'projectPlugins.remove': ({ actor, params, request }) =>
      projectPlugins.remove(actor, params.id, params.name, ifMatch(request)),
  }),
);
