/** Artifacts over HTTP (docs/reference/control-plane.md#artifacts). */
import type { Context } from '../../context.ts';
import { readForm } from '../../http/form.ts';
import { idempotently } from '../../http/idempotency.ts';
import { resource } from '../../http/resource.ts';
import { sendBlob } from '../../http/send-blob.ts';
import { artifactOperations } from './operations.ts';
import { ArtifactForm } from './schemas.ts';
import type { Artifacts } from './service.ts';

export const artifactResource = resource(
  artifactOperations,
  ({ artifacts, context }: { readonly artifacts: Artifacts; readonly context: Context }) => ({
    'artifacts.list': ({ actor, query }) => artifacts.list(actor, query),
    'artifacts.listOfProject': ({ actor, params, query }) => artifacts.listOfProject(actor, params.id, query),
    'artifacts.import': async (call) => {
      const { actor, params, request, reply } = call;
      await artifacts.mayImport(actor, params.id);
      return request.server.uploads.run({ project: params.id, person: actor.name }, request.raw, async () => {
        const { fields, file } = await readForm(request, ArtifactForm, (content) => artifacts.storeFile(content));
        const production = fields.production === 'true';
        return idempotently(call, JSON.stringify([production, file.sha256]), async () => {
          const { artifact, isNew } = await artifacts.import(actor, params.id, { file, production });
          reply.code(isNew ? 201 : 200).header('location', `/artifacts/${artifact.id}`);
          return artifact;
        });
      });
    },
    'artifacts.get': ({ actor, params }) => artifacts.get(actor, params.id),
    'artifacts.tools': ({ actor, params }) => artifacts.tools(actor, params.id),
    'artifacts.documents': ({ actor, params }) => artifacts.documents(actor, params.id),
    'artifacts.delete': ({ actor, params }) => artifacts.delete(actor, params.id),
    'artifacts.download': async ({ actor, params, request, reply }) =>
      sendBlob(context.blobs, await artifacts.download(actor, params.id), request, reply),
  }),
);
