/** Specs (docs/reference/control-plane.md#specs). */
import { operations, partialAnswer } from '../../api/operation.ts';
import { ArrayOf, Closed, Uuid } from '../../api/schema-types.ts';
import { ProjectParams } from '../../project-scope/project-params.ts';
import {
  BindingsQuery,
  OperationQuery,
  OperationsPatch,
  RevisionQuery,
  RevisionsQuery,
  Spec,
  SpecBinding,
  SpecOperation,
  SpecQuery,
  SpecRevision,
  SpecUpload,
  SpecUploadForm,
} from './schemas.ts';

const SpecParams = Closed({ id: Uuid('Of the spec.') });
const BindingParams = Closed({ id: Uuid('Of the spec.'), binding_id: Uuid('Of the binding.') });
const tag = 'Specs';

const DESCRIPTION =
  'An existing name gets its next revision (201); an upload that equals the latest one changes nothing (200). If-Match applies to existing specs. A document with the base name of another one in the project is refused (409). Stored bindings of plugins are applied to it by operationId and path; if either differs, the upload is refused (409, each binding in `errors`) until `bindings` says what to do.';
/** Media types of downloads. */
const TYPES = ['application/yaml', 'application/json', 'application/x-tar', 'application/gzip'];

export const specOperations = operations({
  'specs.upload': {
    tag,
    summary: 'Upload a spec of no project',
    description: DESCRIPTION,
    method: 'POST',
    path: '/specs',
    form: SpecUploadForm,
    answers: { 201: SpecUpload, 200: SpecUpload },
    etag: 'write',
    idempotent: true,
    problems: ['conflict', 'spec-invalid'],
  },
  'specs.uploadToProject': {
    tag,
    summary: 'Upload a spec to a project',
    description: DESCRIPTION,
    method: 'POST',
    path: '/projects/{id}/specs',
    params: ProjectParams,
    form: SpecUploadForm,
    answers: { 201: SpecUpload, 200: SpecUpload },
    etag: 'write',
    idempotent: true,
    problems: ['not-found', 'conflict', 'spec-invalid'],
  },
  'specs.list': {
    tag,
    summary: 'List specs',
    method: 'GET',
    path: '/specs',
    query: SpecQuery,
    answers: { 200: ArrayOf(Spec) },
  },
  'specs.listOfProject': {
    tag,
    summary: 'List the specs of a project',
    method: 'GET',
    path: '/projects/{id}/specs',
    params: ProjectParams,
    query: SpecQuery,
    answers: { 200: ArrayOf(Spec) },
    problems: ['not-found'],
  },
  'specs.get': {
    tag,
    summary: 'Read a spec',
    method: 'GET',
    path: '/specs/{id}',
    params: SpecParams,
    answers: { 200: Spec },
    etag: 'read',
    problems: ['not-found'],
  },
  'specs.delete': {
    tag,
    summary: 'Delete a spec and its revisions',
    description: 'Artifacts that were compiled from it stay.',
    method: 'DELETE',
    path: '/specs/{id}',
    params: SpecParams,
    answers: { 204: { description: 'It is gone', types: [] } },
    etag: 'write',
    problems: ['not-found', 'conflict'],
  },
  'specs.history': {
    tag,
    summary: 'List the revisions of a spec',
    method: 'GET',
    path: '/specs/{id}/history',
    params: SpecParams,
    query: RevisionsQuery,
    answers: { 200: ArrayOf(SpecRevision) },
    problems: ['not-found'],
  },
  'specs.content': {
    tag,
    summary: 'Download a revision',
    description:
      'As it is compiled, or as it was uploaded (`bindings=without`). With all that plugin configs in it hold: it needs the role `editor`.',
    method: 'GET',
    path: '/specs/{id}/content',
    params: SpecParams,
    query: RevisionQuery,
    answers: { 200: { description: 'The document, or the archive', types: TYPES }, ...partialAnswer(TYPES) },
    etag: 'read',
    problems: ['not-found', 'range-not-satisfiable'],
  },
  'specs.operations': {
    tag,
    summary: 'List the operations of a spec',
    description:
      'Those of its latest revision that requests can be, with their plugin chains. To viewers, secrets in plain text are `[redacted]`.',
    method: 'GET',
    path: '/specs/{id}/operations',
    params: SpecParams,
    query: OperationQuery,
    answers: { 200: ArrayOf(SpecOperation) },
    problems: ['not-found'],
  },
  'specs.updateOperations': {
    tag,
    summary: 'Change the plugins of operations',
    description:
      'A merge patch (RFC 7396) of the dispatcher and the middlewares of operations. The patch is stored beside the document and applied to later uploads, too. It makes a new revision, in which the rest of the document stays as written; a patch without an effect makes no revision. Concurrent patches are applied one after the other: without If-Match, each succeeds. In an archive, the document is edited, and the files that it refers to stay.',
    method: 'PATCH',
    path: '/specs/{id}/operations',
    params: SpecParams,
    body: OperationsPatch,
    answers: { 200: SpecUpload },
    etag: 'write',
    problems: ['not-found', 'spec-invalid'],
  },
  'specs.bindings': {
    tag,
    summary: 'List the bindings of a spec',
    description:
      'Plugins that were bound to its operations here, and are kept beside the document. To viewers, secrets in plain text are `[redacted]`.',
    method: 'GET',
    path: '/specs/{id}/bindings',
    params: SpecParams,
    query: BindingsQuery,
    answers: { 200: ArrayOf(SpecBinding) },
    problems: ['not-found'],
  },
  'specs.unbind': {
    tag,
    summary: 'Delete a binding',
    description: 'The chain that the document gives counts again, in a new revision.',
    method: 'DELETE',
    path: '/specs/{id}/bindings/{binding_id}',
    params: BindingParams,
    answers: { 204: { description: 'It is gone', types: [] } },
    etag: 'write',
    problems: ['not-found', 'spec-invalid'],
  },
  'specs.operationsOfProject': {
    tag,
    summary: 'List the operations of all specs of a project',
    method: 'GET',
    path: '/projects/{id}/operations',
    params: ProjectParams,
    query: OperationQuery,
    answers: { 200: ArrayOf(SpecOperation) },
    problems: ['not-found'],
  },
});
