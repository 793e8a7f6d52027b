/** Deployments (docs/reference/control-plane.md#deployments). */
import { operations } from '../../api/operation.ts';
import { ArrayOf, Closed, Uuid } from '../../api/schema-types.ts';
import { ProjectParams } from '../../project-scope/project-params.ts';
import { Deployment, DeploymentDetail, DeploymentQuery, DeployRequest, RollbackRequest } from './schemas.ts';

const DeploymentParams = Closed({ ...ProjectParams.properties, deployment_id: Uuid('Of the deployment.') });
const tag = 'Deployments';

export const deploymentOperations = operations({
  'deployments.deploy': {
    tag,
    summary: 'Deploy an artifact',
    description:
      'Every connected data plane of the project is told, downloads the artifact, verifies and serves it; those that connect later do, too. Takes the place of a deployment in progress.',
    method: 'POST',
    path: '/projects/{id}/deploy',
    params: ProjectParams,
    body: DeployRequest,
    answers: { 202: Deployment },
    idempotent: true,
    problems: ['not-found', 'conflict'],
  },
  'deployments.rollback': {
    tag,
    summary: 'Go back to an earlier artifact',
    description: 'Default: the last successful deployment before the current one.',
    method: 'POST',
    path: '/projects/{id}/rollback',
    params: ProjectParams,
    body: RollbackRequest,
    answers: { 202: Deployment },
    idempotent: true,
    problems: ['not-found', 'conflict'],
  },
  'deployments.list': {
    tag,
    summary: 'List the deployments of a project',
    method: 'GET',
    path: '/projects/{id}/deployments',
    params: ProjectParams,
    query: DeploymentQuery,
    answers: { 200: ArrayOf(Deployment) },
    problems: ['not-found'],
  },
  'deployments.get': {
    tag,
    summary: 'Read a deployment',
    description: 'With its result at each data plane.',
    method: 'GET',
    path: '/projects/{id}/deployments/{deployment_id}',
    params: DeploymentParams,
    answers: { 200: DeploymentDetail },
    problems: ['not-found'],
  },
});
