/** The plugins of projects (docs/reference/control-plane.md#project-plugins). */
import { operations } from '../../api/operation.ts';
import { ArrayOf, Closed, Name } from '../../api/schema-types.ts';
import { ProjectParams } from '../../project-scope/project-params.ts';
import { ProjectPlugin, ProjectPluginInput, ProjectPluginQuery } from './schemas.ts';

const PluginParams = Closed({ ...ProjectParams.properties, name: Name('Of the plugin.') });
const tag = 'Project plugins';

export const projectPluginOperations = operations({
  'projectPlugins.list': {
    tag,
    summary: 'List the plugins of a project',
    description: 'With the config of each; viewers see no secrets.',
    method: 'GET',
    path: '/projects/{id}/plugins',
    params: ProjectParams,
    query: ProjectPluginQuery,
    answers: { 200: ArrayOf(ProjectPlugin) },
    problems: ['not-found'],
  },
  'projectPlugins.add': {
    tag,
    summary: 'Add a plugin to a project',
    description:
      "The config is checked by the plugin's schema, each property by itself: operations may add what is still missing. Values may be references to secrets, such as `env://NAME`.",
    method: 'POST',
    path: '/projects/{id}/plugins',
    params: ProjectParams,
    body: ProjectPluginInput,
    answers: { 201: ProjectPlugin },
    idempotent: true,
    problems: ['not-found', 'conflict', 'config-invalid'],
  },
  'projectPlugins.update': {
    tag,
    summary: 'Update a plugin of a project',
    description: 'Replaces version, config and whether it is enabled.',
    method: 'PUT',
    path: '/projects/{id}/plugins/{name}',
    params: PluginParams,
    body: ProjectPluginInput,
    answers: { 200: ProjectPlugin },
    etag: 'write',
    problems: ['not-found', 'config-invalid', 'unprocessable'],
  },
  'projectPlugins.remove': {
    tag,
    summary: 'Remove a plugin from a project',
    method: 'DELETE',
    path: '/projects/{id}/plugins/{name}',
    params: PluginParams,
    answers: { 204: { description: 'It is gone', types: [] } },
    etag: 'write',
    problems: ['not-found'],
  },
});
