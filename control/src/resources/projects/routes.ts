/** Projects over HTTP (docs/reference/control-plane.md#projects). */
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import type { ControlPlane } from '../../control-plane.ts';
import { etagOf, ifMatch, notModified } from '../../http/etag.ts';
import { operation } from '../../http/operation.ts';
import { sendPage } from '../../http/pagination.ts';
import { Closed, Uuid } from '../../http/schema-types.ts';
import { InitInput, InitResult, Project, ProjectInput, ProjectQuery } from './schemas.ts';

export const ProjectParams = Closed({ id: Uuid('Of the project.') });
const tag = 'Projects';

export function projectRoutes(app: FastifyInstance, { projects }: ControlPlane): void {
  operation(app, {
    id: 'projects.list',
    tag,
    summary: 'List projects',
    method: 'GET',
    url: '/projects',
    query: ProjectQuery,
    answers: { 200: Type.Array(Type.Ref('Project#')) },
    handle: async ({ actor, query, request, reply }) => sendPage(request, reply, await projects.list(actor, query)),
  });
  operation(app, {
    id: 'projects.create',
    tag,
    summary: 'Create a project',
    method: 'POST',
    url: '/projects',
    body: ProjectInput,
    answers: { 201: Project },
    idempotent: true,
    problems: ['conflict'],
    handle: async ({ actor, body, reply }) => {
      const { project, version } = await projects.create(actor, body);
      reply.header('location', `/projects/${project.id}`).header('etag', etagOf(version));
      return project;
    },
  });
  operation(app, {
    id: 'projects.init',
    tag,
    summary: 'Create a project that can be compiled and deployed as it is',
    description: 'With a starter spec, and the plugins that it uses.',
    method: 'POST',
    url: '/init',
    body: InitInput,
    answers: { 201: InitResult },
    idempotent: true,
    problems: ['conflict'],
    handle: async ({ actor, body, reply }) => {
      const made = await projects.init(actor, body);
      reply.header('location', `/projects/${made.project.id}`);
      return made;
    },
  });
  operation(app, {
    id: 'projects.get',
    tag,
    summary: 'Read a project',
    method: 'GET',
    url: '/projects/:id',
    params: ProjectParams,
    answers: { 200: Project },
    etag: 'read',
    problems: ['not-found'],
    handle: async ({ actor, params, request, reply }) => {
      const { project, version } = await projects.get(actor, params.id);
      return notModified(request, reply, version) ? reply.code(304).send() : project;
    },
  });
  operation(app, {
    id: 'projects.update',
    tag,
    summary: 'Update a project',
    description: 'Replaces name, description and upstreams.',
    method: 'PUT',
    url: '/projects/:id',
    params: ProjectParams,
    body: ProjectInput,
    answers: { 200: Project },
    etag: 'write',
    problems: ['not-found', 'conflict'],
    handle: async ({ actor, params, body, request, reply }) => {
      const { project, version } = await projects.update(actor, params.id, body, ifMatch(request));
      reply.header('etag', etagOf(version));
      return project;
    },
  });
  operation(app, {
    id: 'projects.delete',
    tag,
    summary: 'Delete a project',
    description: 'With its specs, plugin configuration, artifacts, deployments and keys.',
    method: 'DELETE',
    url: '/projects/:id',
    params: ProjectParams,
    answers: { 204: { description: 'It is gone', types: [] } },
    etag: 'write',
    problems: ['not-found', 'conflict'],
    handle: async ({ actor, params, request, reply }) => {
      await projects.delete(actor, params.id, ifMatch(request));
      return reply.code(204).send();
    },
  });
}
