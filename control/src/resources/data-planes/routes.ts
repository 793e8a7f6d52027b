/** Data planes over HTTP (docs/reference/control-plane.md#data-planes). */
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import type { ControlPlane } from '../../control-plane.ts';
import { ControlError } from '../../errors.ts';
import { operation } from '../../http/operation.ts';
import { sendPage } from '../../http/pagination.ts';
import { Closed, Uuid } from '../../http/schema-types.ts';
import { ProjectParams } from '../projects/routes.ts';
import { DataPlane, DataPlaneQuery } from './schemas.ts';

const DataPlaneParams = Closed({ ...ProjectParams.properties, dp_id: Uuid('Of the data plane.') });
const tag = 'Data planes';

export function dataPlaneRoutes(app: FastifyInstance, { dataPlanes }: ControlPlane): void {
  // Upgrades are the channel's, and never come here: data planes have keys, and say them there
  // (docs/reference/control-plane.md#open-endpoints).
  app.get('/ws/data-plane', { schema: { hide: true }, config: { open: true } }, () => {
    throw new ControlError(
      'upgrade-required',
      'this is for data planes: connect by WebSocket (gw serve --control-plane)',
    );
  });
  operation(app, {
    id: 'dataPlanes.list',
    tag,
    summary: 'List the data planes of a project',
    description: 'Also those that are not connected now; they are forgotten after 30 days.',
    method: 'GET',
    url: '/projects/:id/data-planes',
    params: ProjectParams,
    query: DataPlaneQuery,
    answers: { 200: Type.Array(Type.Ref('DataPlane#')) },
    problems: ['not-found'],
    handle: async ({ actor, params, query, request, reply }) =>
      sendPage(request, reply, await dataPlanes.list(actor, params.id, query)),
  });
  operation(app, {
    id: 'dataPlanes.get',
    tag,
    summary: 'Read a data plane',
    method: 'GET',
    url: '/projects/:id/data-planes/:dp_id',
    params: DataPlaneParams,
    answers: { 200: DataPlane },
    problems: ['not-found'],
    handle: ({ actor, params }) => dataPlanes.get(actor, params.id, params.dp_id),
  });
  operation(app, {
    id: 'dataPlanes.disconnect',
    tag,
    summary: 'Disconnect a data plane',
    description:
      'Closes its connection and revokes nothing: it connects again. One that is not connected is forgotten.',
    method: 'DELETE',
    url: '/projects/:id/data-planes/:dp_id',
    params: DataPlaneParams,
    answers: { 204: { description: 'Its connection is being closed', types: [] } },
    problems: ['not-found'],
    handle: async ({ actor, params, reply }) => {
      await dataPlanes.disconnect(actor, params.id, params.dp_id);
      return reply.code(204).send();
    },
  });
}
