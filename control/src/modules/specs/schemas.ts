/** Specs in the REST API (docs/reference/control-plane.md#specs). */
import Type, { type Static } from 'typebox';
import {
  AnyObject,
  Closed,
  Line,
  Name,
  Named,
  Nullable,
  OneOf,
  pageQuery,
  RefTo,
  Sha256,
  Timestamp,
  Uuid,
} from '../../api/schema-types.ts';

const SPEC_TYPES = ['openapi', 'asyncapi'] as const;
const Revision = (description: string) => Type.Integer({ minimum: 1, maximum: 2_147_483_647, description });

export const Spec = Named(
  'Spec',
  {
    id: Uuid('Of the spec.'),
    project_id: Nullable(Uuid('The project that it belongs to; null for a spec of none.')),
    name: Name(
      'Unique in its project. A document is compiled as `NAME.yaml` (`.yml`, `.json`), whatever file it came in; one in an archive keeps its name there.',
    ),
    type: OneOf(SPEC_TYPES, 'Format of the document.'),
    title: Type.String({ description: '`info.title` of the latest revision.' }),
    version: Type.String({ description: '`info.version` of the latest revision.' }),
    revision: Revision('The latest.'),
    sha256: Sha256('Of the latest revision, with the bindings that are kept for it.'),
    document_sha256: Sha256('Of the latest revision as uploaded: without bindings.'),
    created_at: Timestamp('When the first revision came.'),
    updated_at: Timestamp('When the latest revision came.'),
  },
  'An OpenAPI or AsyncAPI document with its revisions.',
);
export type Spec = Static<typeof Spec>;

const BINDING_DECISIONS = ['keep', 'discard'] as const;
export type BindingDecision = (typeof BINDING_DECISIONS)[number];

const bindingOperation = {
  operation_id: Nullable(Type.String({ description: '`operationId`; null where the document gives none.' })),
  method: Type.String({ description: 'In capital letters.' }),
  path: Type.String({ description: 'The template.' }),
};

export const BindingOutcome = Named(
  'BindingOutcome',
  {
    ...bindingOperation,
    state: OneOf(
      ['applied', 'conflict', 'changed', 'lost', 'discarded'] as const,
      '`applied`; `conflict`: applied, in place of a chain in the document; `changed`: only one of operationId and path fits; `lost`: neither fits; `discarded`: it was changed or lost, and was deleted.',
    ),
    was: Type.String({ description: 'The operation that it was made for: method and path.' }),
    reason: Nullable(Type.String({ description: 'Why it is not simply applied.' })),
  },
  'Result of an upload for one binding.',
);
export type BindingOutcome = Static<typeof BindingOutcome>;

export const SpecUpload = Named(
  'SpecUpload',
  {
    id: Uuid('Of the spec.'),
    name: Name('Of the spec.'),
    revision: Revision('The new one, or the latest where the upload equals it.'),
    sha256: Sha256('Of the compiled document: the upload with its stored bindings applied.'),
    document_sha256: Sha256('Of the document as uploaded.'),
    bindings: Type.Array(RefTo(BindingOutcome, 'BindingOutcome#'), {
      description: 'Those that are kept for the spec, and those that were discarded.',
    }),
    note: Type.Optional(Type.String({ description: 'Remark about the revision before.' })),
  },
  'Result of an upload.',
);
export type SpecUpload = Static<typeof SpecUpload>;

export const SpecUploadForm = Closed({
  file: Type.Unsafe<unknown>({
    type: 'string',
    format: 'binary',
    description:
      'The document as YAML or JSON, or a .tar or .tar.gz of one document and the files that it refers to. At most 32 MiB.',
  }),
  name: Type.Optional(
    Name('Of the spec. Default: the base name of the file, which then may not be `openapi` or `asyncapi`.'),
  ),
  entry: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 500,
      description: 'Path of the document in an archive of several files. Default: the only one.',
    }),
  ),
  bindings: Type.Optional(
    OneOf(
      BINDING_DECISIONS,
      'Treatment of bindings whose operation is changed or lost: `keep` applies the changed ones and keeps the lost ones until their operation is there again; `discard` deletes both. Default: the upload is refused (409).',
    ),
  ),
});

export const SpecQuery = Closed({
  ...pageQuery(['name', 'updated_at'], 'name'),
  type: Type.Optional(OneOf(SPEC_TYPES, 'Only of this type.')),
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 63, description: 'Part of the name, in any case.' })),
});
export type SpecQuery = Static<typeof SpecQuery>;

export const SpecRevision = Named(
  'SpecRevision',
  {
    revision: Revision('From 1 on.'),
    sha256: Sha256('Of the compiled document: the upload with its stored bindings applied.'),
    document_sha256: Sha256('Of the document as uploaded.'),
    size: Type.Integer({ minimum: 0, description: 'Bytes, with bindings.' }),
    filename: Line('Of the uploaded file.'),
    entry: Line('Name of the document in diagnostics: the name of the spec, or the name in the archive.'),
    spec_version: Type.String({ description: 'The version of OpenAPI or AsyncAPI, such as 3.1.0.' }),
    note: Type.Optional(Type.String({ description: 'Remark about the revision.' })),
    created_by: Type.String({ description: 'Who uploaded or changed it.' }),
    created_at: Timestamp('When.'),
  },
  'A state of a spec; its content never changes.',
);
export type SpecRevision = Static<typeof SpecRevision>;

export const RevisionsQuery = Closed(pageQuery(['revision'], '-revision'));

export const RevisionQuery = Closed({
  revision: Type.Optional(Revision('Which one. Default: the latest.')),
  bindings: Type.Optional(
    OneOf(['with', 'without'] as const, 'The document with its bindings, or as it was uploaded. Default `with`.'),
  ),
});
export type RevisionQuery = Static<typeof RevisionQuery>;

const Binding = Closed({
  name: Type.String(),
  config: AnyObject('As in the document; empty if the document has none.'),
});

export const SpecOperation = Named(
  'SpecOperation',
  {
    spec_id: Uuid('The spec that declares it.'),
    operation_id: Nullable(Type.String({ description: '`operationId`; null where the document has none.' })),
    method: Type.String({ description: 'In capital letters.' }),
    path: Type.String({ description: 'The template.' }),
    summary: Nullable(Type.String()),
    tags: Type.Array(Type.String()),
    deprecated: Type.Boolean(),
    dispatch: Nullable(Binding),
    middlewares: Type.Array(Binding),
    bound: Type.Array(OneOf(['dispatch', 'middlewares'] as const, ''), {
      description: 'Which of both a binding gives, and not the document.',
    }),
  },
  'An operation of the latest revision with its plugin chain.',
);
export type SpecOperation = Static<typeof SpecOperation>;

export const SpecBinding = Named(
  'SpecBinding',
  {
    id: Uuid('Of the binding.'),
    ...bindingOperation,
    state: OneOf(
      ['applied', 'conflict', 'lost'] as const,
      '`conflict`: the document has a chain of its own there, which does not count; `lost`: it has no effect until its operation is in the document again.',
    ),
    reason: Nullable(Type.String({ description: 'Why it is not simply applied.' })),
    dispatch: Type.Optional(Nullable(Binding)),
    middlewares: Type.Optional(Nullable(Type.Array(Binding))),
    created_by: Type.String({ description: 'Who bound it.' }),
    created_at: Timestamp('When.'),
  },
  'Plugins that are bound to an operation beside the document. Absent members follow the document; null removes them.',
);
export type SpecBinding = Static<typeof SpecBinding>;

export const BindingsQuery = Closed(pageQuery(['path'], 'path'));
export type BindingsQuery = Static<typeof BindingsQuery>;

export const OperationQuery = Closed(pageQuery(['path'], 'path'));
export type OperationQuery = Static<typeof OperationQuery>;

const PluginName = Type.String({ minLength: 1, maxLength: 63 });
const Config = AnyObject('Of the plugin, for this operation.');
const BindingInput = Closed({ name: PluginName, config: Type.Optional(Config) });
const BindingPatch = Closed({ name: Type.Optional(PluginName), config: Type.Optional(Nullable(Config)) });

/** A merge patch (RFC 7396) by operation id (docs/reference/control-plane.md#spec-operations). */
export const OperationsPatch = Type.Unsafe<{
  readonly [operationId: string]: {
    readonly dispatch?: { readonly name?: string; readonly config?: Readonly<Record<string, unknown>> | null } | null;
    readonly middlewares?:
      | readonly { readonly name: string; readonly config?: Readonly<Record<string, unknown>> }[]
      | null;
  };
}>({
  $id: 'OperationsPatch',
  type: 'object',
  minProperties: 1,
  maxProperties: 1000,
  propertyNames: { minLength: 1, maxLength: 200 },
  additionalProperties: Closed({
    dispatch: Type.Optional(Nullable(BindingPatch)),
    middlewares: Type.Optional(Nullable(Type.Array(BindingInput, { maxItems: 100 }))),
  }),
  description:
    'By `operationId`, or `METHOD /path` if an operation has no id: its new `x-gw-dispatch` and `x-gw-middlewares`. Absent members stay, null removes them (RFC 7396).',
});
export type OperationsPatch = Static<typeof OperationsPatch>;
