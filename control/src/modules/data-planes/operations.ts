/** Data planes (docs/reference/control-plane.md#data-planes). */
import { operations } from '../../api/operation.ts';
import { ArrayOf, Closed, Uuid } from '../../api/schema-types.ts';
import { ProjectParams } from '../../project-scope/project-params.ts';
import { DataPlane, DataPlaneQuery } from './schemas.ts';

const DataPlaneParams = Closed({ ...ProjectParams.properties, dp_id: Uuid('Of the data plane.') });
const tag = 'Data planes';

export const dataPlaneOperations = operations({
  'dataPlanes.list': {
    tag,
    summary: 'List the data planes of a project',
    description: 'Also those that are not connected now; they are forgotten after 30 days.',
    method: 'GET',
    path: '/projects/{id}/data-planes',
    params: ProjectParams,
    query: DataPlaneQuery,
    answers: { 200: ArrayOf(DataPlane) },
    problems: ['not-found'],
  },
  'dataPlanes.get': {
    tag,
    summary: 'Read a data plane',
    method: 'GET',
    path: '/projects/{id}/data-planes/{dp_id}',
    params: DataPlaneParams,
    answers: { 200: DataPlane },
    problems: ['not-found'],
  },
  'dataPlanes.disconnect': {
    tag,
    summary: 'Disconnect a data plane',
    description:
      'Closes its connection and revokes nothing: it connects again. One that is not connected is forgotten.',
    method: 'DELETE',
    path: '/projects/{id}/data-planes/{dp_id}',
    params: DataPlaneParams,
    answers: { 204: { description: 'Its connection is being closed', types: [] } },
    problems: ['not-found'],
  },
});
