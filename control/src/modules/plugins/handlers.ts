/** The registry of plugins over HTTP (docs/reference/control-plane.md#plugins). */
import { createHash } from 'node:crypto';
import { readWhole } from '@gw/gateway/read-whole';
import type { Context } from '../../context.ts';
import { BlobTooLarge } from '../../db/blobs.ts';
import { etagOf, notModified } from '../../http/etag.ts';
import { readForm } from '../../http/form.ts';
import { idempotently } from '../../http/idempotency.ts';
import { resource } from '../../http/resource.ts';
import { sendBlob } from '../../http/send-blob.ts';
import { pluginOperations } from './operations.ts';
import { MAX_MODULE, PluginForm } from './schemas.ts';
import type { Plugins } from './service.ts';

export const pluginResource = resource(
  pluginOperations,
  ({ plugins, context }: { readonly plugins: Plugins; readonly context: Context }) => ({
    'plugins.list': ({ actor, query }) => plugins.list(actor, query),
    'plugins.register': async (call) => {
      const { actor, request, reply } = call;
      // Checked before the form is read.
      actor.mustBeGlobal('admin');
      return request.server.uploads.run({ project: '', person: actor.name }, request.raw, async () => {
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
    'plugins.versions': ({ actor, params }) => plugins.versions(actor, params.name),
    'plugins.get': async ({ actor, params, request, reply }) => {
      const { plugin, version } = await plugins.get(actor, params.name, params.version);
      return notModified(request, reply, version) ? reply.code(304).send() : plugin;
    },
    'plugins.delete': ({ actor, params }) => plugins.delete(actor, params.name, params.version),
    'plugins.download': async ({ actor, params, request, reply }) => {
      const { name, version } = params;
      const module = await plugins.download(actor, name, version);
      const filename = `${name}-${version.replace('+', '_')}.wasm`;
      return sendBlob(context.blobs, { ...module, type: 'application/wasm', filename }, request, reply);
    },
  }),
);

function readModule(content: AsyncIterable<Uint8Array>): Promise<Buffer> {
  return readWhole(content, MAX_MODULE, () => new BlobTooLarge(MAX_MODULE));
}
