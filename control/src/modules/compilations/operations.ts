/** Compilations (docs/reference/control-plane.md#compilations). */
import { EVENT_STREAM_TYPE } from '../../api/media-types.ts';
import { operations } from '../../api/operation.ts';
import { ArrayOf, Closed, Uuid } from '../../api/schema-types.ts';
import { ProjectParams } from '../../project-scope/project-params.ts';
import { Compilation, CompilationQuery, CompileRequest, ProjectCompileRequest } from './schemas.ts';

const CompilationParams = Closed({ id: Uuid('Of the compilation.') });
const SpecParams = Closed({ id: Uuid('Of the spec.') });
const tag = 'Compilations';

export const compilationOperations = operations({
  'compilations.compileSpec': {
    tag,
    summary: 'Compile a spec',
    description:
      'Asynchronously, with the plugins and upstreams of its project as they are now; for a spec of no project, with the newest version of each plugin.',
    method: 'POST',
    path: '/specs/{id}/compile',
    params: SpecParams,
    body: CompileRequest,
    answers: { 202: Compilation },
    idempotent: true,
    problems: ['not-found', 'conflict'],
  },
  'compilations.compileProject': {
    tag,
    summary: 'Compile all specs of a project',
    description: 'Asynchronously, into one artifact.',
    method: 'POST',
    path: '/projects/{id}/compile',
    params: ProjectParams,
    body: ProjectCompileRequest,
    answers: { 202: Compilation },
    idempotent: true,
    problems: ['not-found', 'conflict'],
  },
  'compilations.listOfSpec': {
    tag,
    summary: 'List compilations of a spec',
    method: 'GET',
    path: '/specs/{id}/compilations',
    params: SpecParams,
    query: CompilationQuery,
    answers: { 200: ArrayOf(Compilation) },
    problems: ['not-found'],
  },
  'compilations.listOfProject': {
    tag,
    summary: 'List compilations of a project',
    method: 'GET',
    path: '/projects/{id}/compilations',
    params: ProjectParams,
    query: CompilationQuery,
    answers: { 200: ArrayOf(Compilation) },
    problems: ['not-found'],
  },
  'compilations.get': {
    tag,
    summary: 'Read a compilation',
    description: 'To poll until `status` is `succeeded` or `failed`.',
    method: 'GET',
    path: '/compilations/{id}',
    params: CompilationParams,
    answers: { 200: Compilation },
    problems: ['not-found'],
  },
  'compilations.events': {
    tag,
    summary: 'Follow a compilation',
    description:
      'Server-sent events: `compilation`, with the compilation as it is now and after each change, until it has ended. Ask again to go on after a break.',
    method: 'GET',
    path: '/compilations/{id}/events',
    params: CompilationParams,
    answers: { 200: { description: 'The events', types: [EVENT_STREAM_TYPE] } },
    events: { compilation: Compilation },
    problems: ['not-found'],
  },
  'compilations.delete': {
    tag,
    summary: 'Delete a compilation',
    description: 'The record alone; its artifact stays. One that waits is not begun any more.',
    method: 'DELETE',
    path: '/compilations/{id}',
    params: CompilationParams,
    answers: { 204: { description: 'It is gone', types: [] } },
    problems: ['not-found', 'conflict'],
  },
});
