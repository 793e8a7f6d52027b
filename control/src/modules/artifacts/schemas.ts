/** Artifacts in the REST API (docs/reference/control-plane.md#artifacts). */
import Type, { type Static } from 'typebox';
import {
  AnyObject,
  ArtifactHash,
  Closed,
  Named,
  Nullable,
  OneOf,
  pageQuery,
  Sha256,
  Timestamp,
  Uuid,
} from '../../api/schema-types.ts';

export const Artifact = Named(
  'Artifact',
  {
    id: Uuid('Of the artifact.'),
    project_id: Nullable(Uuid('The project that it was compiled for.')),
    artifact_hash: ArtifactHash('Of its content: equal inputs give equal hashes.'),
    sha256: Sha256('Of the file.'),
    size: Type.Integer({ minimum: 0, description: 'Bytes of the file.' }),
    signed: Type.Boolean(),
    production: Type.Boolean({ description: 'A production build.' }),
    compiler_version: Type.String(),
    artifact_version: Type.Integer({ description: 'Of the format.' }),
    routes_count: Type.Integer({ minimum: 0 }),
    specs: Type.Array(Type.String(), { description: 'Files of the specs in it.' }),
    plugins: Type.Array(Closed({ name: Type.String(), version: Type.String() })),
    created_by: Type.String({ description: 'Account that compiled or imported it.' }),
    created_at: Timestamp('Time of its first compilation here, or of its import.'),
  },
  'A compiled project.',
);
export type Artifact = Static<typeof Artifact>;

export const ArtifactDetail = Named(
  'ArtifactDetail',
  { ...Artifact.properties, manifest: AnyObject('manifest.json of the artifact.') },
  'A compiled project with its manifest.',
);
export type ArtifactDetail = Static<typeof ArtifactDetail>;

export const ArtifactTools = Named(
  'ArtifactTools',
  {
    enabled: Type.Boolean({ description: 'A document of it has `x-gw-mcp: {enabled: true}`.' }),
    tools: Type.Array(
      Closed({
        definition: AnyObject('The tool as clients are told of it (Model Context Protocol, "Tool").'),
        method: Type.String({ description: 'Of its operation.' }),
        path: Type.String({ description: 'Of its operation.' }),
        tokens: Type.Integer({ minimum: 0, description: 'Size of the definition in tokens, an estimate.' }),
      }),
    ),
    count: Type.Integer({ minimum: 0, description: 'Of the tools.' }),
    tokens: Type.Integer({ minimum: 0, description: 'Of all definitions, an estimate.' }),
    upstreams: Type.Array(Type.String(), { description: 'MCP upstreams whose tools are offered besides.' }),
    warnings: Type.Array(Type.String(), { description: 'Clients that take fewer tools.' }),
  },
  'Tools that an artifact offers to agents.',
);
export type ArtifactTools = Static<typeof ArtifactTools>;

export const ArtifactForm = Closed({
  file: Type.Unsafe<unknown>({
    type: 'string',
    format: 'binary',
    description: 'The .gwa file, at most 256 MiB, of the format and version that this server reads.',
  }),
  production: Type.Optional(
    OneOf(['true', 'false'], 'Whether it was built for production, which no file says of itself. Default false.'),
  ),
});
export type ArtifactForm = Static<typeof ArtifactForm>;

export const ArtifactQuery = Closed({
  ...pageQuery(['created_at'], '-created_at'),
  artifact_hash: Type.Optional(ArtifactHash('Only with this hash.')),
});
export type ArtifactQuery = Static<typeof ArtifactQuery>;
