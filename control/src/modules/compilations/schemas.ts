/** Compilations in the REST API (docs/reference/control-plane.md#compilations). */
import Type, { type Static } from 'typebox';
import { Closed, Named, Nullable, OneOf, pageQuery, RefTo, Timestamp, Uuid } from '../../api/schema-types.ts';

const STATUSES = ['pending', 'compiling', 'succeeded', 'failed'] as const;

/** docs/reference/gateway.md#diagnostics. */
export const Diagnostic = Named(
  'Diagnostic',
  {
    code: Type.String({ description: 'Of the table in docs/error-codes.md, such as E1020.' }),
    severity: OneOf(['error', 'warning'], 'Errors fail the compilation.'),
    message: Type.String({ description: 'The fault.' }),
    hint: Type.Optional(Type.String({ description: 'What to do.' })),
    spec_id: Type.Optional(Uuid('Of a compilation: the spec that the file is of.')),
    file: Type.Optional(Type.String({ description: 'The file that it is about.' })),
    pointer: Type.Optional(Type.String({ description: 'JSON pointer into the file.' })),
    line: Type.Optional(Type.Integer({ description: 'From 1 on.' })),
    column: Type.Optional(Type.Integer({ description: 'From 1 on.' })),
  },
  'Diagnostics of the compiler.',
);
export type Diagnostic = Static<typeof Diagnostic>;

const Production = Type.Boolean({
  default: false,
  description: 'A production build: stricter, and signed where a key is set.',
});

export const CompileRequest = Named(
  'CompileRequest',
  {
    production: Type.Optional(Production),
    additional_specs: Type.Optional(
      Type.Array(Uuid('Of a spec.'), {
        maxItems: 100,
        uniqueItems: true,
        description: 'Compiled together with it. Default: none.',
      }),
    ),
  },
  'How to compile.',
);
export type CompileRequest = Static<typeof CompileRequest>;

export const ProjectCompileRequest = Named(
  'ProjectCompileRequest',
  {
    production: Type.Optional(Production),
  },
  'How to compile all specs of a project together.',
);
export type ProjectCompileRequest = Static<typeof ProjectCompileRequest>;

export const Compilation = Named(
  'Compilation',
  {
    id: Uuid('Of the compilation.'),
    spec_id: Nullable(Uuid('The spec that it was asked for; null for a compilation of a project.')),
    project_id: Nullable(Uuid('The project that its plugin configuration is taken from.')),
    status: OneOf(STATUSES, '`pending`: queued; `compiling`: running; then it has ended.'),
    stage: Nullable(OneOf(['reading', 'compiling', 'storing'], 'Current step, while it is compiling.')),
    production: Type.Boolean(),
    attempts: Type.Integer({ minimum: 0, description: 'How often it was begun: again where a replica died over it.' }),
    specs: Type.Array(
      Closed({ spec_id: Uuid('Of a spec.'), revision: Type.Integer({ minimum: 1, description: 'Of the spec.' }) }),
      { description: 'Specs that are compiled, with their revisions at the time of the request.' },
    ),
    created_at: Timestamp('When it was asked for.'),
    started_at: Nullable(Timestamp('When it was begun.')),
    completed_at: Type.Optional(Timestamp('When it ended.')),
    artifact_id: Type.Optional(Uuid('What came of it, when it has succeeded and until the artifact is deleted.')),
    artifact_hash: Type.Optional(Type.String({ description: 'Of the artifact.' })),
    errors: Type.Optional(
      Type.Array(RefTo(Diagnostic, 'Diagnostic'), {
        description: 'When it has failed; errors and warnings are 1,000 at most.',
      }),
    ),
    warnings: Type.Array(RefTo(Diagnostic, 'Diagnostic')),
  },
  'A job that makes an artifact from specs.',
);
export type Compilation = Static<typeof Compilation>;

export const CompilationQuery = Closed({
  ...pageQuery(['created_at'], '-created_at'),
  status: Type.Optional(OneOf(STATUSES, 'Only with this status.')),
});
export type CompilationQuery = Static<typeof CompilationQuery>;
