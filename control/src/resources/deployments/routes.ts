/** Deployments over HTTP (docs/reference/control-plane.md#deployments). */
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import type { ControlPlane } from '../../control-plane.ts';
import { operation } from '../../http/operation.ts';
import { sendPage } from '../../http/pagination.ts';
import { Closed, Uuid } from '../../http/schema-types.ts';
import { ProjectParams } from '../projects/routes.ts';
import { Deployment, DeploymentDetail, DeploymentQuery, DeployRequest, RollbackRequest } from './schemas.ts';

const DeploymentParams = Closed({ ...ProjectParams.properties, deployment_id: Uuid('Of the deployment.') });
const tag = 'Deployments';

export function deploymentRoutes(app: FastifyInstance, { deployments }: ControlPlane): void {
  operation(app, {
    id: 'deployments.deploy',
    tag,
    summary: 'Deploy an artifact',
    description:
      'Every connected data plane of the project is told, downloads the artifact, verifies and serves it; those that connect later do, too. Takes the place of a deployment in progress.',
    method: 'POST',
    url: '/projects/:id/deploy',
    params: ProjectParams,
    body: DeployRequest,
    answers: { 202: Deployment },
    idempotent: true,
    problems: ['not-found', 'conflict'],
    handle: async ({ actor, params, body, reply }) => {
      const deployment = await deployments.deploy(actor, params.id, body);
      reply.header('location', `/projects/${params.id}/deployments/${deployment.deployment_id}`);
      return deployment;
    },
  });
  operation(app, {
    id: 'deployments.rollback',
    tag,
    summary: 'Go back to an earlier artifact',
    description: 'By default to what was last deployed with success before what is deployed now.',
    method: 'POST',
    url: '/projects/:id/rollback',
    params: ProjectParams,
    body: RollbackRequest,
    answers: { 202: Deployment },
    idempotent: true,
    problems: ['not-found', 'conflict'],
    handle: async ({ actor, params, body, reply }) => {
      const deployment = await deployments.rollback(actor, params.id, body);
      reply.header('location', `/projects/${params.id}/deployments/${deployment.deployment_id}`);
      return deployment;
    },
  });
  operation(app, {
    id: 'deployments.list',
    tag,
    summary: 'List the deployments of a project',
    method: 'GET',
    url: '/projects/:id/deployments',
    params: ProjectParams,
    query: DeploymentQuery,
    answers: { 200: Type.Array(Type.Ref('Deployment#')) },
    problems: ['not-found'],
    handle: async ({ actor, params, query, request, reply }) =>
      sendPage(request, reply, await deployments.list(actor, params.id, query)),
  });
  operation(app, {
    id: 'deployments.get',
    tag,
    summary: 'Read a deployment',
    description: 'With what became of it at each data plane.',
    method: 'GET',
    url: '/projects/:id/deployments/:deployment_id',
    params: DeploymentParams,
    answers: { 200: DeploymentDetail },
    problems: ['not-found'],
    handle: ({ actor, params }) => deployments.get(actor, params.id, params.deployment_id),
  });
}
