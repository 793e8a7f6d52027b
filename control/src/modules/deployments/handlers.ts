/** Deployments over HTTP (docs/reference/control-plane.md#deployments). */
import { resource } from '../../http/resource.ts';
import { deploymentOperations } from './operations.ts';
import type { Deployments } from './service.ts';

export const deploymentResource = resource(
  deploymentOperations,
  ({ deployments }: { readonly deployments: Deployments }) => ({
    'deployments.deploy': async ({ actor, params, body, reply }) => {
      const deployment = await deployments.deploy(actor, params.id, body);
      reply.header('location', `/projects/${params.id}/deployments/${deployment.deployment_id}`);
      return deployment;
    },
    'deployments.rollback': async ({ actor, params, body, reply }) => {
      const deployment = await deployments.rollback(actor, params.id, body);
      reply.header('location', `/projects/${params.id}/deployments/${deployment.deployment_id}`);
      return deployment;
    },
    'deployments.list': ({ actor, params, query }) => deployments.list(actor, params.id, query),
    'deployments.get': ({ actor, params }) => deployments.get(actor, params.id, params.deployment_id),
  }),
);
