/** Keys of data planes in the REST API (docs/reference/control-plane.md#data-plane-keys). */
import Type, { type Static } from 'typebox';
import { Closed, Line, Named, Nullable, pageQuery, Timestamp, Uuid } from '../../api/schema-types.ts';

export const ApiKey = Named(
  'ApiKey',
  {
    id: Uuid('Of the key.'),
    name: Line('For people.'),
    prefix: Type.String({ description: 'First characters of the key, to tell keys apart.' }),
    created_by: Type.String(),
    created_at: Timestamp('When it was created.'),
    last_used_at: Nullable(Timestamp('When a data plane last came with it.')),
    revoked_at: Nullable(Timestamp('Since when it opens nothing.')),
  },
  'What data planes of a project authenticate with.',
);
export type ApiKey = Static<typeof ApiKey>;

export const NewApiKey = Named(
  'NewApiKey',
  {
    id: Uuid('Of the key.'),
    name: Line('For people.'),
    key: Type.String({ description: 'Shown this once; only a hash of it is kept.' }),
    created_at: Timestamp('When it was created.'),
  },
  'A key that was just created.',
);
export type NewApiKey = Static<typeof NewApiKey>;

export const ApiKeyInput = Named('ApiKeyInput', { name: Line('For people.') }, 'Properties of a new key.');
export type ApiKeyInput = Static<typeof ApiKeyInput>;

export const ApiKeyQuery = Closed(pageQuery(['created_at'], '-created_at'));
export type ApiKeyQuery = Static<typeof ApiKeyQuery>;
