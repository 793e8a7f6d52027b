/** The registry of plugins (docs/reference/control-plane.md#plugins). */
import { operations, partialAnswer } from '../../api/operation.ts';
import { ArrayOf, Closed } from '../../api/schema-types.ts';
import { Plugin, PluginForm, PluginQuery, PluginVersionParams } from './schemas.ts';

const PluginParams = Closed({ name: PluginVersionParams.properties.name });
const MODULE_TYPES = ['application/wasm'];
const tag = 'Plugins';

export const pluginOperations = operations({
  'plugins.list': {
    tag,
    summary: 'List plugins',
    description: 'Each version of each plugin.',
    method: 'GET',
    path: '/plugins',
    query: PluginQuery,
    answers: { 200: ArrayOf(Plugin) },
  },
  'plugins.register': {
    tag,
    summary: 'Register a version of a plugin',
    description:
      'The module is loaded as a gateway would load it; what a gateway would refuse is refused. A version that is there is never replaced.',
    method: 'POST',
    path: '/plugins',
    form: PluginForm,
    answers: { 201: Plugin },
    idempotent: true,
    problems: ['conflict', 'plugin-invalid'],
  },
  'plugins.versions': {
    tag,
    summary: 'List the versions of a plugin',
    description: 'Newest first.',
    method: 'GET',
    path: '/plugins/{name}',
    params: PluginParams,
    answers: { 200: ArrayOf(Plugin) },
    problems: ['not-found'],
  },
  'plugins.get': {
    tag,
    summary: 'Read a version of a plugin',
    method: 'GET',
    path: '/plugins/{name}/{version}',
    params: PluginVersionParams,
    answers: { 200: Plugin },
    etag: 'read',
    problems: ['not-found'],
  },
  'plugins.delete': {
    tag,
    summary: 'Delete a version of a plugin',
    description: 'Not while a project uses it, nor one that comes with gw.',
    method: 'DELETE',
    path: '/plugins/{name}/{version}',
    params: PluginVersionParams,
    answers: { 204: { description: 'It is gone', types: [] } },
    problems: ['not-found', 'conflict'],
  },
  'plugins.download': {
    tag,
    summary: 'Download the WASM module of a version',
    description: 'Whole, or a range of it. Its ETag is its sha256.',
    method: 'GET',
    path: '/plugins/{name}/{version}/download',
    params: PluginVersionParams,
    answers: { 200: { description: 'The module', types: MODULE_TYPES }, ...partialAnswer(MODULE_TYPES) },
    etag: 'read',
    problems: ['not-found', 'range-not-satisfiable'],
  },
});
