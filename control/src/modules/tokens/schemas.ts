/** Tokens of the REST API (docs/reference/control-plane.md#tokens). */
import Type, { type Static } from 'typebox';
import { ROLES } from '../../access/actor.ts';
import { Closed, Line, Named, Nullable, OneOf, pageQuery, Timestamp, Uuid } from '../../api/schema-types.ts';

const Role = OneOf(
  ROLES,
  '`viewer` reads; `editor` also changes specs and plugins and compiles; `deployer` also deploys; `admin` may all.',
);

export const Token = Named(
  'Token',
  {
    id: Uuid('Of the token.'),
    name: Line('Unique; the audit log names the token by it.'),
    prefix: Type.String({ description: 'First characters of the token, to tell tokens apart.' }),
    role: Role,
    project_id: Nullable(Uuid('The one project that it opens; null: all of them, and what belongs to none.')),
    created_by: Type.String(),
    created_at: Timestamp('When it was created.'),
    expires_at: Nullable(Timestamp('Until when it opens anything; null: until it is revoked.')),
    last_used_at: Nullable(Timestamp('When it was last used, to the minute.')),
    revoked_at: Nullable(Timestamp('Since when it opens nothing.')),
  },
  'What people and programs authenticate with, besides the admin token.',
);
export type Token = Static<typeof Token>;

export const NewToken = Named(
  'NewToken',
  { ...Token.properties, token: Type.String({ description: 'Shown this once; only a hash of it is kept.' }) },
  'A token that was just created.',
);
export type NewToken = Static<typeof NewToken>;

export const TokenInput = Named(
  'TokenInput',
  {
    name: Line('Unique.'),
    role: Role,
    project_id: Type.Optional(Nullable(Uuid('The one project that it opens. Default: all.'))),
    expires_at: Type.Optional(Nullable(Timestamp('Until when it opens anything. Default: until it is revoked.'))),
  },
  'Properties of a new token.',
);
export type TokenInput = Static<typeof TokenInput>;

export const TokenQuery = Closed(pageQuery(['name', 'created_at'], 'name'));
export type TokenQuery = Static<typeof TokenQuery>;

export const Identity = Named(
  'Identity',
  {
    actor: Type.String({ description: 'As the audit log names the caller.' }),
    role: Role,
    project_id: Nullable(Uuid('The one project that the caller may see; null: all.')),
    expires_at: Nullable(Timestamp('Until when the credentials hold; null: no end is known.')),
  },
  'Identity of the caller.',
);
export type Identity = Static<typeof Identity>;
