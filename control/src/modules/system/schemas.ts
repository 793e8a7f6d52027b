/** Schemas of the server's own operations (docs/reference/control-plane.md#operations). */
import Type, { type Static } from 'typebox';
import { Named, OneOf } from '../../api/schema-types.ts';

export const Health = Named(
  'Health',
  { status: OneOf(['healthy'], 'The process answers.'), version: Type.String({ description: 'Of the server.' }) },
  'That the server lives; whether it is ready says the admin listener.',
);
export type Health = Static<typeof Health>;
