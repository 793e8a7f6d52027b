/** Specs over HTTP (docs/reference/control-plane.md#specs). */
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import type { ControlPlane } from '../../control-plane.ts';
import { etagOf, ifMatch, notModified } from '../../http/etag.ts';
import { readForm } from '../../http/form.ts';
import { idempotently } from '../../http/idempotency.ts';
import { type Call, operation } from '../../http/operation.ts';
import { sendPage } from '../../http/pagination.ts';
import { Closed, Uuid } from '../../http/schema-types.ts';
import { partialAnswer, sendBlob } from '../../http/send-blob.ts';
import { ProjectParams } from '../projects/routes.ts';
import {
  OperationQuery,
  OperationsPatch,
  RevisionQuery,
  RevisionsQuery,
  Spec,
  SpecQuery,
  SpecUpload,
  SpecUploadForm,
} from './schemas.ts';

export const SpecParams = Closed({ id: Uuid('Of the spec.') });
const tag = 'Specs';

const DESCRIPTION =
  'A name that is there already gets its next revision (201); an upload that equals the latest one changes nothing (200). If-Match is for specs that are there. A document of the base name of another in the project is refused (409).';
/** Of what is downloaded. */
const TYPES = ['application/yaml', 'application/json', 'application/x-tar', 'application/gzip'];

export function specRoutes(app: FastifyInstance, { specs, context }: ControlPlane): void {
  const upload = async (
    { actor, request, reply }: Pick<Call, 'actor' | 'request' | 'reply'>,
    projectId: string | null,
  ) => {
    await specs.mayUpload(actor, projectId);
    return request.server.uploads.run(projectId ?? '', request.raw, () => take({ actor, request, reply }, projectId));
  };
  const take = async (
    { actor, request, reply }: Pick<Call, 'actor' | 'request' | 'reply'>,
    projectId: string | null,
  ) => {
    const { fields, filename, file } = await readForm(request, SpecUploadForm, (content) => specs.storeFile(content));
    const { name, entry } = fields;
    const fingerprint = JSON.stringify([name, entry, filename, file.sha256]);
    return idempotently({ actor, request, reply }, fingerprint, async () => {
      const input = { filename, file, name, entry };
      const expected = ifMatch(request);
      const result =
        projectId === null
          ? await specs.upload(actor, input, expected)
          : await specs.uploadToProject(actor, projectId, input, expected);
      reply.code(result.isNew ? 201 : 200);
      reply.header('location', `/specs/${result.upload.id}`).header('etag', etagOf(result.version));
      return result.upload;
    });
  };
  operation(app, {
    id: 'specs.upload',
    tag,
    summary: 'Upload a spec of no project',
    description: DESCRIPTION,
    method: 'POST',
    url: '/specs',
    form: SpecUploadForm,
    answers: { 201: SpecUpload, 200: SpecUpload },
    etag: 'write',
    idempotent: true,
    problems: ['spec-invalid'],
    handle: (call) => upload(call, null),
  });
  operation(app, {
    id: 'specs.uploadToProject',
    tag,
    summary: 'Upload a spec to a project',
    description: DESCRIPTION,
    method: 'POST',
    url: '/projects/:id/specs',
    params: ProjectParams,
    form: SpecUploadForm,
    answers: { 201: SpecUpload, 200: SpecUpload },
    etag: 'write',
    idempotent: true,
    problems: ['not-found', 'conflict', 'spec-invalid'],
    handle: (call) => upload(call, call.params.id),
  });
  operation(app, {
    id: 'specs.list',
    tag,
    summary: 'List specs',
    method: 'GET',
    url: '/specs',
    query: SpecQuery,
    answers: { 200: Type.Array(Type.Ref('Spec#')) },
    handle: async ({ actor, query, request, reply }) => sendPage(request, reply, await specs.list(actor, query)),
  });
  operation(app, {
    id: 'specs.listOfProject',
    tag,
    summary: 'List the specs of a project',
    method: 'GET',
    url: '/projects/:id/specs',
    params: ProjectParams,
    query: SpecQuery,
    answers: { 200: Type.Array(Type.Ref('Spec#')) },
    problems: ['not-found'],
    handle: async ({ actor, params, query, request, reply }) =>
      sendPage(request, reply, await specs.listOfProject(actor, params.id, query)),
  });
  operation(app, {
    id: 'specs.get',
    tag,
    summary: 'Read a spec',
    method: 'GET',
    url: '/specs/:id',
    params: SpecParams,
    answers: { 200: Spec },
    etag: 'read',
    problems: ['not-found'],
    handle: async ({ actor, params, request, reply }) => {
      const { spec, version } = await specs.get(actor, params.id);
      return notModified(request, reply, version) ? reply.code(304).send() : spec;
    },
  });
  operation(app, {
    id: 'specs.delete',
    tag,
    summary: 'Delete a spec and its revisions',
    description: 'Artifacts that were compiled from it stay.',
    method: 'DELETE',
    url: '/specs/:id',
    params: SpecParams,
    answers: { 204: { description: 'It is gone', types: [] } },
    etag: 'write',
    problems: ['not-found', 'conflict'],
    handle: async ({ actor, params, request, reply }) => {
      await specs.delete(actor, params.id, ifMatch(request));
      return reply.code(204).send();
    },
  });
  operation(app, {
    id: 'specs.history',
    tag,
    summary: 'List the revisions of a spec',
    method: 'GET',
    url: '/specs/:id/history',
    params: SpecParams,
    query: RevisionsQuery,
    answers: { 200: Type.Array(Type.Ref('SpecRevision#')) },
    problems: ['not-found'],
    handle: async ({ actor, params, query, request, reply }) =>
      sendPage(request, reply, await specs.history(actor, params.id, query)),
  });
  operation(app, {
    id: 'specs.content',
    tag,
    summary: 'Download a revision as it was uploaded',
    description: 'With all that plugin configs in it hold: it needs the role `editor`.',
    method: 'GET',
    url: '/specs/:id/content',
    params: SpecParams,
    query: RevisionQuery,
    answers: { 200: { description: 'The bytes that were uploaded', types: TYPES }, ...partialAnswer(TYPES) },
    etag: 'read',
    problems: ['not-found', 'range-not-satisfiable'],
    handle: async ({ actor, params, query, request, reply }) => {
      const revision = await specs.content(actor, params.id, query.revision);
      return sendBlob(context.blobs, { ...revision, type: typeOf(revision) }, request, reply);
    },
  });
  operation(app, {
    id: 'specs.operations',
    tag,
    summary: 'List the operations of a spec',
    description:
      'Those of its latest revision that requests can be, with their plugin chains. To viewers, secrets in plain text are `[redacted]`.',
    method: 'GET',
    url: '/specs/:id/operations',
    params: SpecParams,
    query: OperationQuery,
    answers: { 200: Type.Array(Type.Ref('SpecOperation#')) },
    problems: ['not-found'],
    handle: async ({ actor, params, query, request, reply }) =>
      sendPage(request, reply, await specs.operations(actor, params.id, query)),
  });
  operation(app, {
    id: 'specs.updateOperations',
    tag,
    summary: 'Change the plugins of operations',
    description:
      'A merge patch (RFC 7396) of the dispatcher and the middlewares of operations. It makes a new revision of the document, in which all else stays as it is written; a patch that changes nothing makes none. Patches that come at once are made one after the other: without If-Match none is refused for the others. Of an archive the document is edited, not the files that it refers to.',
    method: 'PATCH',
    url: '/specs/:id/operations',
    params: SpecParams,
    body: OperationsPatch,
    mergePatch: true,
    answers: { 200: SpecUpload },
    etag: 'write',
    problems: ['not-found', 'spec-invalid'],
    handle: async ({ actor, params, body, request, reply }) => {
      const { upload: result, version } = await specs.updateOperations(actor, params.id, body, ifMatch(request));
      reply.header('etag', etagOf(version));
      return result;
    },
  });
  operation(app, {
    id: 'specs.operationsOfProject',
    tag,
    summary: 'List the operations of all specs of a project',
    method: 'GET',
    url: '/projects/:id/operations',
    params: ProjectParams,
    query: OperationQuery,
    answers: { 200: Type.Array(Type.Ref('SpecOperation#')) },
    problems: ['not-found'],
    handle: async ({ actor, params, query, request, reply }) =>
      sendPage(request, reply, await specs.operationsOfProject(actor, params.id, query)),
  });
}

/** JSON is told by its name: what a browser shows of it hangs on that. */
function typeOf({ form, filename }: { readonly form: 'document' | 'archive'; readonly filename: string }): string {
  if (form === 'archive') return /\.(gz|tgz)$/i.test(filename) ? 'application/gzip' : 'application/x-tar';
  return /\.json$/i.test(filename) ? 'application/json' : 'application/yaml';
}
