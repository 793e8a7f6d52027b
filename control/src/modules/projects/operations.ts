/** Projects (docs/reference/control-plane.md#projects). */
import { EVENT_STREAM_TYPE } from '../../api/media-types.ts';
import { operations } from '../../api/operation.ts';
import { ArrayOf } from '../../api/schema-types.ts';
import { ProjectParams } from '../../project-scope/project-params.ts';
import { Compilation } from '../compilations/schemas.ts';
import { DataPlane } from '../data-planes/schemas.ts';
import { Deployment } from '../deployments/schemas.ts';
import { InitInput, InitResult, Project, ProjectInput, ProjectQuery } from './schemas.ts';

const tag = 'Projects';

export const projectOperations = operations({
  'projects.list': {
    tag,
    summary: 'List projects',
    method: 'GET',
    path: '/projects',
    query: ProjectQuery,
    answers: { 200: ArrayOf(Project) },
  },
  'projects.create': {
    tag,
    summary: 'Create a project',
    method: 'POST',
    path: '/projects',
    body: ProjectInput,
    answers: { 201: Project },
    idempotent: true,
    problems: ['conflict'],
  },
  'projects.init': {
    tag,
    summary: 'Create a project that can be compiled and deployed as it is',
    description: 'With a starter spec, and the plugins that it uses.',
    method: 'POST',
    path: '/init',
    body: InitInput,
    answers: { 201: InitResult },
    idempotent: true,
    problems: ['conflict'],
  },
  'projects.get': {
    tag,
    summary: 'Read a project',
    method: 'GET',
    path: '/projects/{id}',
    params: ProjectParams,
    answers: { 200: Project },
    etag: 'read',
    problems: ['not-found'],
  },
  'projects.update': {
    tag,
    summary: 'Update a project',
    description: 'Replaces name, description, upstreams and MCP upstreams.',
    method: 'PUT',
    path: '/projects/{id}',
    params: ProjectParams,
    body: ProjectInput,
    answers: { 200: Project },
    etag: 'write',
    problems: ['not-found', 'conflict'],
  },
  'projects.events': {
    tag,
    summary: 'Follow a project',
    description:
      'Server-sent events `compilation`, `deployment` and `data_plane`, each with the resource as it is after a change, at most five a second for one resource. Earlier changes are not sent. The stream ends if it may have missed changes: read the lists, and ask again.',
    method: 'GET',
    path: '/projects/{id}/events',
    params: ProjectParams,
    answers: { 200: { description: 'The events', types: [EVENT_STREAM_TYPE] } },
    events: { compilation: Compilation, deployment: Deployment, data_plane: DataPlane },
    problems: ['not-found'],
  },
  'projects.delete': {
    tag,
    summary: 'Delete a project',
    description: 'With its specs, plugin configuration, artifacts, deployments and keys.',
    method: 'DELETE',
    path: '/projects/{id}',
    params: ProjectParams,
    answers: { 204: { description: 'It is gone', types: [] } },
    etag: 'write',
    problems: ['not-found', 'conflict'],
  },
});
