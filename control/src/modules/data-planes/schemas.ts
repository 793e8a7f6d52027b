/** Data planes in the REST API (docs/reference/control-plane.md#data-planes). */
import Type, { type Static } from 'typebox';
import { Closed, Named, Nullable, OneOf, pageQuery, Timestamp, Uuid } from '../../api/schema-types.ts';

const STATUSES = ['connected', 'disconnected', 'drifted', 'incompatible'] as const;

export const DataPlane = Named(
  'DataPlane',
  {
    id: Uuid('Of the data plane.'),
    name: Type.String({ description: 'As it calls itself (`--data-plane-name`).' }),
    status: OneOf(
      STATUSES,
      '`drifted`: connected, and serves something else than it should; `incompatible`: connected, and cannot read the artifact that it should serve.',
    ),
    current_artifact_id: Nullable(
      Uuid('Artifact that it serves; null if it serves nothing, or an artifact that the control plane does not have.'),
    ),
    current_artifact_hash: Nullable(Type.String({ description: 'Hash of the artifact that it serves.' })),
    drift_detected: Type.Boolean(),
    gw_version: Type.String({ description: 'Of gw.' }),
    api_key_id: Nullable(Uuid('The key that it last came with.')),
    address: Nullable(Type.String({ description: 'Address of its last connection.' })),
    connected_at: Nullable(Timestamp('When it last connected.')),
    disconnected_at: Nullable(Timestamp('When its last connection ended; null while it is connected.')),
    last_seen_at: Nullable(Timestamp('Time of its last message.')),
  },
  'A gateway in connected mode.',
);
export type DataPlane = Static<typeof DataPlane>;

export const DataPlaneQuery = Closed({
  ...pageQuery(['name', 'connected_at'], 'name'),
  status: Type.Optional(OneOf(STATUSES, 'Only with this status.')),
});
export type DataPlaneQuery = Static<typeof DataPlaneQuery>;
