/** The plugins of projects over HTTP (docs/reference/control-plane.md#project-plugins). */
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import type { ControlPlane } from '../../control-plane.ts';
import { ifMatch } from '../../http/etag.ts';
import { operation } from '../../http/operation.ts';
import { sendPage } from '../../http/pagination.ts';
import { Closed, Name } from '../../http/schema-types.ts';
import { ProjectParams } from '../projects/routes.ts';
import { ProjectPlugin, ProjectPluginInput, ProjectPluginQuery } from './schemas.ts';

const PluginParams = Closed({ ...ProjectParams.properties, name: Name('Of the plugin.') });
const tag = 'Project plugins';

export function projectPluginRoutes(app: FastifyInstance, { projectPlugins }: ControlPlane): void {
  operation(app, {
    id: 'projectPlugins.list',
    tag,
    summary: 'List the plugins of a project',
    description: 'With the config of each; viewers see no secrets.',
    method: 'GET',
    url: '/projects/:id/plugins',
    params: ProjectParams,
    query: ProjectPluginQuery,
    answers: { 200: Type.Array(Type.Ref('ProjectPlugin#')) },
    problems: ['not-found'],
    handle: async ({ actor, params, query, request, reply }) =>
      sendPage(request, reply, await projectPlugins.list(actor, params.id, query)),
  });
  operation(app, {
    id: 'projectPlugins.add',
    tag,
    summary: 'Add a plugin to a project',
    description:
      "The config is checked by the plugin's schema, each property by itself: operations may add what is still missing. Values may be references to secrets, such as `env://NAME`.",
    method: 'POST',
    url: '/projects/:id/plugins',
    params: ProjectParams,
    body: ProjectPluginInput,
    answers: { 201: ProjectPlugin },
    idempotent: true,
    problems: ['not-found', 'conflict', 'config-invalid'],
    handle: async ({ actor, params, body, reply }) => {
      const added = await projectPlugins.add(actor, params.id, body);
      reply.header('location', `/projects/${params.id}/plugins/${added.plugin_name}`).header('etag', added.etag);
      return added;
    },
  });
  operation(app, {
    id: 'projectPlugins.update',
    tag,
    summary: 'Update a plugin of a project',
    description: 'Replaces version, config and whether it is enabled.',
    method: 'PUT',
    url: '/projects/:id/plugins/:name',
    params: PluginParams,
    body: ProjectPluginInput,
    answers: { 200: ProjectPlugin },
    etag: 'write',
    problems: ['not-found', 'config-invalid', 'unprocessable'],
    handle: async ({ actor, params, body, request, reply }) => {
      const updated = await projectPlugins.update(actor, params.id, params.name, body, ifMatch(request));
      reply.header('etag', updated.etag);
      return updated;
    },
  });
  operation(app, {
    id: 'projectPlugins.remove',
    tag,
    summary: 'Remove a plugin from a project',
    method: 'DELETE',
    url: '/projects/:id/plugins/:name',
    params: PluginParams,
    answers: { 204: { description: 'It is gone', types: [] } },
    etag: 'write',
    problems: ['not-found'],
    handle: async ({ actor, params, request, reply }) => {
      await projectPlugins.remove(actor, params.id, params.name, ifMatch(request));
      return reply.code(204).send();
    },
  });
}
