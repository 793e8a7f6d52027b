/** Data planes over HTTP (docs/reference/control-plane.md#data-planes). */
import { resource } from '../../http/resource.ts';
import { dataPlaneOperations } from './operations.ts';
import type { DataPlanes } from './service.ts';

export const dataPlaneResource = resource(
  dataPlaneOperations,
  ({ dataPlanes }: { readonly dataPlanes: DataPlanes }) => ({
    'dataPlanes.list': ({ actor, params, query }) => dataPlanes.list(actor, params.id, query),
    'dataPlanes.get': ({ actor, params }) => dataPlanes.get(actor, params.id, params.dp_id),
    'dataPlanes.disconnect': ({ actor, params }) => dataPlanes.disconnect(actor, params.id, params.dp_id),
  }),
);
