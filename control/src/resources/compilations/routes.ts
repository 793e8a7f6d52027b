/** Compilations over HTTP (docs/reference/control-plane.md#compilations). */
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import type { ControlPlane } from '../../control-plane.ts';
import { EVENT_STREAM_TYPE, sendEvents } from '../../http/event-stream.ts';
import { operation } from '../../http/operation.ts';
import { sendPage } from '../../http/pagination.ts';
import { Closed, Uuid } from '../../http/schema-types.ts';
import { ProjectParams } from '../projects/routes.ts';
import { Compilation, CompilationQuery, CompileRequest, ProjectCompileRequest } from './schemas.ts';

const CompilationParams = Closed({ id: Uuid('Of the compilation.') });
const SpecParams = Closed({ id: Uuid('Of the spec.') });
const tag = 'Compilations';
const list = { 200: Type.Array(Type.Ref('Compilation#')) };

export function compilationRoutes(app: FastifyInstance, { compilations }: ControlPlane): void {
  operation(app, {
    id: 'compilations.compileSpec',
    tag,
    summary: 'Compile a spec',
    description:
      'Asynchronously, with the plugins and upstreams of its project as they are now; for a spec of no project, with the newest version of each plugin.',
    method: 'POST',
    url: '/specs/:id/compile',
    params: SpecParams,
    body: CompileRequest,
    answers: { 202: Compilation },
    idempotent: true,
    problems: ['not-found', 'conflict'],
    handle: async ({ actor, params, body, reply }) => {
      const compilation = await compilations.compileSpec(actor, params.id, body);
      reply.header('location', `/compilations/${compilation.id}`);
      return compilation;
    },
  });
  operation(app, {
    id: 'compilations.compileProject',
    tag,
    summary: 'Compile all specs of a project',
    description: 'Asynchronously, into one artifact.',
    method: 'POST',
    url: '/projects/:id/compile',
    params: ProjectParams,
    body: ProjectCompileRequest,
    answers: { 202: Compilation },
    idempotent: true,
    problems: ['not-found', 'conflict'],
    handle: async ({ actor, params, body, reply }) => {
      const compilation = await compilations.compileProject(actor, params.id, body);
      reply.header('location', `/compilations/${compilation.id}`);
      return compilation;
    },
  });
  operation(app, {
    id: 'compilations.listOfSpec',
    tag,
    summary: 'List compilations of a spec',
    method: 'GET',
    url: '/specs/:id/compilations',
    params: SpecParams,
    query: CompilationQuery,
    answers: list,
    problems: ['not-found'],
    handle: async ({ actor, params, query, request, reply }) =>
      sendPage(request, reply, await compilations.listOfSpec(actor, params.id, query)),
  });
  operation(app, {
    id: 'compilations.listOfProject',
    tag,
    summary: 'List compilations of a project',
    method: 'GET',
    url: '/projects/:id/compilations',
    params: ProjectParams,
    query: CompilationQuery,
    answers: list,
    problems: ['not-found'],
    handle: async ({ actor, params, query, request, reply }) =>
      sendPage(request, reply, await compilations.listOfProject(actor, params.id, query)),
  });
  operation(app, {
    id: 'compilations.get',
    tag,
    summary: 'Read a compilation',
    description: 'To poll until `status` is `succeeded` or `failed`.',
    method: 'GET',
    url: '/compilations/:id',
    params: CompilationParams,
    answers: { 200: Compilation },
    problems: ['not-found'],
    handle: ({ actor, params }) => compilations.get(actor, params.id),
  });
  operation(app, {
    id: 'compilations.events',
    tag,
    summary: 'Follow a compilation',
    description:
      'Server-sent events: `compilation`, with the compilation as it is now and after each change, until it has ended. Ask again to go on after a break.',
    method: 'GET',
    url: '/compilations/:id/events',
    params: CompilationParams,
    answers: { 200: { description: 'The events', types: [EVENT_STREAM_TYPE] } },
    problems: ['not-found'],
    handle: async ({ actor, params, request, reply }) => {
      // Asked first: what is not found is no stream.
      await compilations.get(actor, params.id);
      const stream = app.eventStreams.open(request, reply);
      void sendEvents(stream, 'compilation', compilations.events(actor, params.id, stream.signal));
      return reply.send(stream.body);
    },
  });
  operation(app, {
    id: 'compilations.delete',
    tag,
    summary: 'Delete a compilation',
    description: 'The record alone; its artifact stays. One that waits is not begun any more.',
    method: 'DELETE',
    url: '/compilations/:id',
    params: CompilationParams,
    answers: { 204: { description: 'It is gone', types: [] } },
    problems: ['not-found', 'conflict'],
    handle: async ({ actor, params, reply }) => {
      await compilations.delete(actor, params.id);
      return reply.code(204).send();
    },
  });
}
