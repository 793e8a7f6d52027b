/** Specs over HTTP (docs/reference/control-plane.md#specs). */
import type { Context } from '../../context.ts';
import type { Call } from '../../http/call.ts';
import { etagOf, ifMatch, notModified } from '../../http/etag.ts';
import { readForm } from '../../http/form.ts';
import { idempotently } from '../../http/idempotency.ts';
import { resource } from '../../http/resource.ts';
import { sendBlob } from '../../http/send-blob.ts';
import { specOperations } from './operations.ts';
import { type SpecUpload, SpecUploadForm } from './schemas.ts';
import type { Specs } from './service.ts';

export const specResource = resource(
  specOperations,
  ({ specs, context }: { readonly specs: Specs; readonly context: Context }) => ({
    'specs.upload': (call) => upload(specs, call, null),
    'specs.uploadToProject': (call) => upload(specs, call, call.params.id),
    'specs.list': ({ actor, query }) => specs.list(actor, query),
    'specs.listOfProject': ({ actor, params, query }) => specs.listOfProject(actor, params.id, query),
    'specs.get': async ({ actor, params, request, reply }) => {
      const { spec, version } = await specs.get(actor, params.id);
      return notModified(request, reply, version) ? reply.code(304).send() : spec;
    },
    'specs.delete': ({ actor, params, request }) => specs.delete(actor, params.id, ifMatch(request)),
    'specs.history': ({ actor, params, query }) => specs.history(actor, params.id, query),
    'specs.content': async ({ actor, params, query, request, reply }) => {
      const revision = await specs.content(actor, params.id, query);
      return sendBlob(context.blobs, { ...revision, type: typeOf(revision) }, request, reply);
    },
    'specs.operations': ({ actor, params, query }) => specs.operations(actor, params.id, query),
    'specs.updateOperations': async ({ actor, params, body, request, reply }) => {
      const { upload: result, version } = await specs.updateOperations(actor, params.id, body, ifMatch(request));
      reply.header('etag', etagOf(version));
      return result;
    },
    'specs.bindings': ({ actor, params, query }) => specs.bindings(actor, params.id, query),
    'specs.unbind': ({ actor, params, request }) => specs.unbind(actor, params.id, params.binding_id, ifMatch(request)),
    'specs.operationsOfProject': ({ actor, params, query }) => specs.operationsOfProject(actor, params.id, query),
  }),
);

type UploadCall = Pick<Call, 'actor' | 'request' | 'reply'>;

async function upload(specs: Specs, call: UploadCall, projectId: string | null): Promise<SpecUpload> {
  const { actor, request } = call;
  await specs.mayUpload(actor, projectId);
  return request.server.uploads.run({ project: projectId ?? '', person: actor.name }, request.raw, () =>
    take(specs, call, projectId),
  );
}

async function take(specs: Specs, { actor, request, reply }: UploadCall, projectId: string | null) {
  const { fields, filename, file } = await readForm(request, SpecUploadForm, (content) => specs.storeFile(content));
  const { name, entry, bindings } = fields;
  const fingerprint = JSON.stringify([name, entry, filename, file.sha256, bindings]);
  return idempotently({ actor, request, reply }, fingerprint, async () => {
    const input = { filename, file, name, entry, bindings };
    const expected = ifMatch(request);
    const result =
      projectId === null
        ? await specs.upload(actor, input, expected)
        : await specs.uploadToProject(actor, projectId, input, expected);
    reply.code(result.isNew ? 201 : 200);
    reply.header('location', `/specs/${result.upload.id}`).header('etag', etagOf(result.version));
    return result.upload;
  });
}

/** Returns the media type. JSON is recognised by its name, on which a browser's display depends. */
function typeOf({ form, filename }: { readonly form: 'document' | 'archive'; readonly filename: string }): string {
  if (form === 'archive') return /\.(gz|tgz)$/i.test(filename) ? 'application/gzip' : 'application/x-tar';
  return /\.json$/i.test(filename) ? 'application/json' : 'application/yaml';
}
