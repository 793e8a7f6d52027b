/** The registry of plugins over HTTP (docs/reference/control-plane.md#plugins). */
import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import type { ControlPlane } from '../../control-plane.ts';
import { BlobTooLarge } from '../../db/blobs.ts';
import { etagOf, notModified } from '../../http/etag.ts';
import { readForm } from '../../http/form.ts';
import { idempotently } from '../../http/idempotency.ts';
import { operation } from '../../http/operation.ts';
import { sendPage } from '../../http/pagination.ts';
import { Closed } from '../../http/schema-types.ts';
import { partialAnswer, sendBlob } from '../../http/send-blob.ts';
import { MAX_MODULE, Plugin, PluginForm, PluginQuery, PluginVersionParams } from './schemas.ts';

const PluginParams = Closed({ name: PluginVersionParams.properties.name });
const MODULE_TYPES = ['application/wasm'];
const tag = 'Plugins';

export function pluginRoutes(app: FastifyInstance, { plugins, context }: ControlPlane): void {
  operation(app, {
    id: 'plugins.list',
    tag,
    summary: 'List plugins',
    description: 'Each version of each plugin.',
    method: 'GET',
    url: '/plugins',
    query: PluginQuery,
    answers: { 200: Type.Array(Type.Ref('Plugin#')) },
    handle: async ({ actor, query, request, reply }) => sendPage(request, reply, await plugins.list(actor, query)),
  });
  operation(app, {
    id: 'plugins.register',
    tag,
    summary: 'Register a version of a plugin',
    description:
      'The module is loaded as a gateway would load it; what a gateway would refuse is refused. A version that is there is never replaced.',
    method: 'POST',
    url: '/plugins',
    form: PluginForm,
    answers: { 201: Plugin },
    idempotent: true,
    problems: ['conflict', 'plugin-invalid'],
    handle: async (call) => {
      const { actor, request, reply } = call;
      // Before anything of the form is read.
      actor.mustBeGlobal('admin');
      return request.server.uploads.run('', request.raw, async () => {
        const { fields, file } = await readForm(request, PluginForm, readModule);
        const sha256 = createHash('sha256').update(file).digest('hex');
        return idempotently(call, JSON.stringify([fields, sha256]), async () => {
          const { plugin, version } = await plugins.register(actor, fields, file);
          const path = `/plugins/${plugin.name}/${encodeURIComponent(plugin.version)}`;
          reply.header('location', path).header('etag', etagOf(version));
          return plugin;
        });
      });
    },
  });
  operation(app, {
    id: 'plugins.versions',
    tag,
    summary: 'List the versions of a plugin',
    description: 'Newest first.',
    method: 'GET',
    url: '/plugins/:name',
    params: PluginParams,
    answers: { 200: Type.Array(Type.Ref('Plugin#')) },
    problems: ['not-found'],
    handle: ({ actor, params }) => plugins.versions(actor, params.name),
  });
  operation(app, {
    id: 'plugins.get',
    tag,
    summary: 'Read a version of a plugin',
    method: 'GET',
    url: '/plugins/:name/:version',
    params: PluginVersionParams,
    answers: { 200: Plugin },
    etag: 'read',
    problems: ['not-found'],
    handle: async ({ actor, params, request, reply }) => {
      const { plugin, version } = await plugins.get(actor, params.name, params.version);
      return notModified(request, reply, version) ? reply.code(304).send() : plugin;
    },
  });
  operation(app, {
    id: 'plugins.delete',
    tag,
    summary: 'Delete a version of a plugin',
    description: 'Not while a project uses it, nor one that comes with gw.',
    method: 'DELETE',
    url: '/plugins/:name/:version',
    params: PluginVersionParams,
    answers: { 204: { description: 'It is gone', types: [] } },
    problems: ['not-found', 'conflict'],
    handle: async ({ actor, params, reply }) => {
      await plugins.delete(actor, params.name, params.version);
      return reply.code(204).send();
    },
  });
  operation(app, {
    id: 'plugins.download',
    tag,
    summary: 'Download the WASM module of a version',
    description: 'Whole, or a range of it. Its ETag is its sha256.',
    method: 'GET',
    url: '/plugins/:name/:version/download',
    params: PluginVersionParams,
    answers: { 200: { description: 'The module', types: MODULE_TYPES }, ...partialAnswer(MODULE_TYPES) },
    etag: 'read',
    problems: ['not-found', 'range-not-satisfiable'],
    handle: async ({ actor, params, request, reply }) => {
      const { name, version } = params;
      const module = await plugins.download(actor, name, version);
      const filename = `${name}-${version.replace('+', '_')}.wasm`;
      return sendBlob(context.blobs, { ...module, type: 'application/wasm', filename }, request, reply);
    },
  });
}

async function readModule(content: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of content) {
    size += piece.length;
    if (size > MAX_MODULE) throw new BlobTooLarge(MAX_MODULE);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
