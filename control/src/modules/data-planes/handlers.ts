/** Data planes over HTTP (docs/reference/control-plane.md#data-planes). */
import type { ControlPlane } from '../../control-plane.ts';
import { resource } from '../../http/resource.ts';
import { dataPlaneOperations } from './operations.ts';

export const dataPlaneResource = resource(dataPlaneOperations, ({ dataPlanes }: ControlPlane) => ({
  'dataPlanes.list': ({ actor, params, query }) => dataPlanes.list(actor, params.id, query),
  'dataPlanes.get': ({ actor, params }) => dataPlanes.get(actor, params.id, params.dp_id),
  'dataPlanes.disconnect': ({ actor, params }) => dataPlanes.disconnect(actor, params.id, params.dp_id),
}));
