/** The audit log in the REST API. */
import Type, { type Static } from 'typebox';
import { AnyObject, Closed, Named, Nullable, pageQuery, Timestamp, Uuid } from '../../api/schema-types.ts';

export const AuditEntry = Named(
  'AuditEntry',
  {
    id: Uuid('Of the entry.'),
    at: Timestamp('When.'),
    actor: Type.String({ description: 'Who: `admin`, `token:NAME`, `oidc:SUBJECT`, `data-plane:NAME` or `system`.' }),
    action: Type.String({ description: 'The operation, such as `projects.update`.' }),
    resource_type: Type.String({ description: 'Such as `project`.' }),
    resource_id: Type.String(),
    project_id: Nullable(Uuid('The project that it belongs to.')),
    before: Nullable(AnyObject('The resource before the change; null if it did not exist.')),
    after: Nullable(AnyObject('The resource after the change; null if it was deleted.')),
    request_id: Nullable(Type.String({ description: '`x-request-id` of the request.' })),
  },
  'A change.',
);
export type AuditEntry = Static<typeof AuditEntry>;

/** Schema of text without NUL, which no entry contains. */
const Text = (maxLength: number, description: string) =>
  Type.String({ minLength: 1, maxLength, pattern: '^[^\\u0000]*$', description });

export const AuditQuery = Closed({
  ...pageQuery(['at'], '-at'),
  project_id: Type.Optional(Uuid('Only of this project.')),
  actor: Type.Optional(Text(300, 'Only by this actor.')),
  action: Type.Optional(Text(100, 'Only this operation.')),
  resource_type: Type.Optional(Text(100, 'Only of this type.')),
  resource_id: Type.Optional(Text(300, 'Only of this resource.')),
  since: Type.Optional(Timestamp('Only from then on.')),
  until: Type.Optional(Timestamp('Only before then.')),
});
export type AuditQuery = Static<typeof AuditQuery>;
