/** Projects in the REST API (docs/reference/control-plane.md#projects). */
import { type McpSettings, mcpSchema } from '@gw/gateway/mcp-settings';
import Type, { type Static } from 'typebox';
import { Closed, Name, Named, Nullable, pageQuery, RefTo, Timestamp, Uuid } from '../../api/schema-types.ts';
import { Spec } from '../specs/schemas.ts';

const Upstreams = Type.Unsafe<Record<string, string>>({
  type: 'object',
  maxProperties: 200,
  propertyNames: { pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$' },
  additionalProperties: {
    type: 'string',
    format: 'uri',
    maxLength: 2000,
    description: 'URL that `upstream://NAME` in a config stands for.',
  },
  description: 'Named upstreams, as `upstreams` of gw.yaml.',
});
const Mcp = Type.Unsafe<McpSettings>({
  ...mcpSchema,
  additionalProperties: false,
  description: 'Upstream MCP servers, as `mcp` of gw.yaml.',
});
const Description = Type.String({ maxLength: 2000, description: 'For people. Default: none.' });

export const Project = Named(
  'Project',
  {
    id: Uuid('Of the project.'),
    name: Name('Unique.'),
    description: Description,
    upstreams: Upstreams,
    mcp: Mcp,
    deployed_artifact_id: Nullable(
      Uuid('Artifact that its data planes should serve; null before the first deployment.'),
    ),
    created_at: Timestamp('When it was created.'),
    updated_at: Timestamp('When it was last changed.'),
  },
  'Specs, plugin configuration, keys and data planes that belong together.',
);
export type Project = Static<typeof Project>;

export const ProjectInput = Named(
  'ProjectInput',
  {
    name: Name('Unique.'),
    description: Type.Optional(Description),
    upstreams: Type.Optional(Upstreams),
    mcp: Type.Optional(Mcp),
  },
  'Properties of a project; an update replaces all of them.',
);
export type ProjectInput = Static<typeof ProjectInput>;

export const ProjectQuery = Closed({
  ...pageQuery(['name', 'created_at'], 'name'),
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 63, description: 'Part of the name, in any case.' })),
});
export type ProjectQuery = Static<typeof ProjectQuery>;

export const InitInput = Named(
  'InitInput',
  {
    name: Name('Of the project; unique.'),
    description: Type.Optional(Description),
    type: Type.Optional(
      Type.Unsafe<'openapi' | 'asyncapi'>({
        type: 'string',
        enum: ['openapi', 'asyncapi'],
        default: 'openapi',
        description: 'Of the starter document.',
      }),
    ),
  },
  'A new project with a starter document and the plugins that it uses.',
);
export type InitInput = Static<typeof InitInput>;

export const InitResult = Named(
  'InitResult',
  { project: RefTo(Project, 'Project#'), spec: RefTo(Spec, 'Spec#') },
  'The project, and its spec: both can be compiled and deployed as they are.',
);
