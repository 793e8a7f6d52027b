/** The tables, as migrations/ makes them. Timestamps are read as `Date`, `bigint` as number, `jsonb` parsed. */

import type { Manifest } from '@gw/gateway/artifact';
import type { Diagnostic, PluginManifest, ProjectPlugin } from '@gw/gateway/compiler';
import type { McpSettings } from '@gw/gateway/mcp-settings';
import type { ColumnType, Generated, JSONColumnType } from 'kysely';

type Timestamp = ColumnType<Date, Date | string, Date | string>;
/** Set by the database when the row is made. */
type CreatedAt = ColumnType<Date, Date | string | undefined, never>;
type Nullable<T> = ColumnType<T | null, T | null | undefined, T | null>;
type NullableTime = ColumnType<Date | null, Date | string | null | undefined, Date | string | null>;
type Json<T extends object | null> = JSONColumnType<T>;

export interface Schema {
  projects: ProjectsTable;
  specs: SpecsTable;
  spec_revisions: SpecRevisionsTable;
  spec_bindings: SpecBindingsTable;
  plugins: PluginsTable;
  project_plugins: ProjectPluginsTable;
  compilations: CompilationsTable;
  artifacts: ArtifactsTable;
  api_keys: ApiKeysTable;
  data_planes: DataPlanesTable;
  deployments: DeploymentsTable;
  deployment_targets: DeploymentTargetsTable;
  api_tokens: ApiTokensTable;
  audit_entries: AuditEntriesTable;
  idempotency_keys: IdempotencyKeysTable;
  replicas: ReplicasTable;
  blobs: BlobsTable;
  blob_chunks: BlobChunksTable;
  blob_uploads: BlobUploadsTable;
  maintenance: MaintenanceTable;
}

export interface ProjectsTable {
  id: string;
  /** Unique. */
  name: string;
  description: string;
  /** Named upstreams of the project (docs/reference/gateway.md#manifest): name to URL. */
  upstreams: Json<Record<string, string>>;
  /** Upstream MCP servers (docs/mcp.md#upstreams). */
  mcp: JSONColumnType<McpSettings, string | undefined>;
  /** Counts changes of the row: its ETag. */
  version: Generated<number>;
  /** Artifact that its data planes should serve; null before the first deployment. */
  deployed_artifact_id: Nullable<string>;
  created_at: CreatedAt;
  updated_at: Timestamp;
}

export interface SpecsTable {
  id: string;
  /** Null: outside projects. */
  project_id: Nullable<string>;
  /** Unique in its project, or outside projects. */
  name: string;
  type: 'openapi' | 'asyncapi';
  /** `info.title` and `info.version` of the latest revision. */
  title: string;
  api_version: string;
  /** Number of the latest revision. */
  revision: number;
  /** Counts changes of the row: its ETag. */
  version: Generated<number>;
  created_at: CreatedAt;
  updated_at: Timestamp;
}

export interface SpecRevisionsTable {
  id: string;
  spec_id: string;
  /** Counts from 1. */
  revision: number;
  /** SHA-256 of the compiled document, with its bindings: names the blob. */
  sha256: string;
  /** SHA-256 of the document without bindings, as uploaded: names a blob, too. */
  document_sha256: string;
  size: number;
  /** Name of the uploaded file, such as `books.yaml` or `books.tar.gz`. */
  filename: string;
  /** `document`: the bytes are the document; `archive`: a tar or tar.gz of the document and the files it refers to. */
  form: 'document' | 'archive';
  /**
   * Name of the document in the project that is compiled: `<spec name>.<extension>`, or that in the archive
   * (docs/decisions.md#spec-name-rules).
   */
  entry: string;
  /** The dialect, such as `3.1.0`. */
  spec_version: string;
  operations: Json<readonly StoredOperation[]>;
  /** A note for people; null for most. */
  note: Nullable<string>;
  created_by: string;
  created_at: CreatedAt;
}

/** Plugins that are bound to an operation beside the document (docs/decisions.md#kept-bindings). */
export interface SpecBindingsTable {
  id: string;
  spec_id: string;
  /** Path and method, for lists. */
  place: string;
  /**
   * JSON of a Binding of modules/specs/bindings.ts, as text, since columns refuse some characters in names of
   * documents.
   */
  binding: string;
  state: 'applied' | 'conflict' | 'lost';
  /** Why the binding is in conflict or lost; null if it is applied. */
  reason: Nullable<string>;
  created_by: string;
  created_at: CreatedAt;
}

/** An operation in the document's words, for lists. */
export interface StoredOperation {
  /** `operationId`, or null if the document has none. */
  readonly operation_id: string | null;
  readonly method: string;
  readonly path: string;
  readonly summary: string | null;
  readonly tags: readonly string[];
  readonly deprecated: boolean;
  /** `x-gw-dispatch` as written; null without one. */
  readonly dispatch: { readonly name: string; readonly config: Readonly<Record<string, unknown>> } | null;
  /** `x-gw-middlewares` as written. */
  readonly middlewares: readonly { readonly name: string; readonly config: Readonly<Record<string, unknown>> }[];
  /** Fields that a binding sets; absent if the document sets all. */
  readonly bound?: readonly ('dispatch' | 'middlewares')[];
}

export interface PluginsTable {
  id: string;
  /** Unique with `version`. */
  name: string;
  version: string;
  type: 'middleware' | 'dispatcher';
  description: string;
  /** Declarations of `plugin.toml` (docs/decisions.md#plugin-declarations), as the compiler takes them. */
  manifest: Json<PluginManifest>;
  config_schema: ColumnType<NonNullable<ProjectPlugin['configSchema']> | null, string | null, string | null>;
  /** SHA-256 of the WASM module: names the blob. */
  sha256: string;
  size: number;
  /** Comes with gw. */
  builtin: boolean;
  created_at: CreatedAt;
  updated_at: Timestamp;
}

export interface ProjectPluginsTable {
  project_id: string;
  plugin_name: string;
  plugin_version: string;
  enabled: boolean;
  config: Json<NonNullable<ProjectPlugin['config']>>;
  version: Generated<number>;
  created_at: CreatedAt;
  updated_at: Timestamp;
}

export interface CompilationsTable {
  id: string;
  /** Null for a compilation of a whole project. */
  spec_id: Nullable<string>;
  project_id: Nullable<string>;
  /** Inputs of the compilation, pinned when it was requested, so that every replica compiles the same. */
  inputs: Json<CompilationInputs>;
  production: boolean;
  status: Generated<'pending' | 'compiling' | 'succeeded' | 'failed'>;
  /** The current stage of the job. */
  stage: Nullable<'reading' | 'compiling' | 'storing'>;
  /** How often a replica has begun the job. */
  attempts: Generated<number>;
  /** The replica that has it, and until when; past that any replica may take it. */
  claimed_by: Nullable<string>;
  claimed_until: NullableTime;
  artifact_id: Nullable<string>;
  /** Diagnostics (docs/decisions.md#diagnostics): errors and warnings. */
  diagnostics: ColumnType<readonly StoredDiagnostic[], string | undefined, string>;
  created_by: string;
  created_at: CreatedAt;
  started_at: NullableTime;
  completed_at: NullableTime;
  /** Time at which a sweep first found that nothing needs it (docs/decisions.md#retention); null if something does. */
  unneeded_since: NullableTime;
}

/** A diagnostic with the spec of its file. */
export type StoredDiagnostic = Diagnostic & { readonly spec_id?: string };

export interface CompilationInputs {
  readonly revisions: readonly { readonly spec_id: string; readonly revision: number }[];
  readonly plugins: readonly {
    readonly name: string;
    readonly version: string;
    readonly config: NonNullable<ProjectPlugin['config']>;
  }[];
  readonly upstreams: Readonly<Record<string, string>>;
  /** Absent: no settings. */
  readonly mcp?: McpSettings;
}

export interface ArtifactsTable {
  id: string;
  project_id: Nullable<string>;
  /** `sha256:<hex>`, that of the manifest. */
  artifact_hash: string;
  /** SHA-256 of the .gwa file: names the blob. */
  file_sha256: string;
  size: number;
  manifest: Json<Manifest>;
  /** Hex of the public key that signed it; null if it is not signed. */
  signed_by: Nullable<string>;
  production: boolean;
  compiler_version: string;
  artifact_version: number;
  created_by: string;
  created_at: CreatedAt;
  /** Time at which a sweep first found that nothing needs it (docs/decisions.md#retention); null if something does. */
  unneeded_since: NullableTime;
}

export interface ApiKeysTable {
  id: string;
  project_id: string;
  name: string;
  /** sha256 of the key, hex. */
  key_hash: string;
  /** The first characters of the key, to tell keys apart. */
  prefix: string;
  created_by: string;
  created_at: CreatedAt;
  last_used_at: NullableTime;
  revoked_at: NullableTime;
}

export interface DataPlanesTable {
  id: string;
  project_id: string;
  /** Unique in its project together with `instance_id`. */
  name: string;
  /** Distinguishes two data planes of one name. */
  instance_id: string;
  status: 'connected' | 'disconnected' | 'drifted' | 'incompatible';
  /** The artifact that it last reported to serve. */
  current_hash: Nullable<string>;
  current_artifact_id: Nullable<string>;
  /** Version of gw. */
  gw_version: string;
  /** Artifact format versions that it reads (docs/decisions.md#version-skew). */
  format_versions: Json<readonly number[]>;
  api_key_id: Nullable<string>;
  /** The replica that it is connected to. */
  replica_id: Nullable<string>;
  /** Id of the connection; distinguishes an old connection's end from the new one's. */
  connection_id: Nullable<string>;
  address: Nullable<string>;
  drift_detected: Generated<boolean>;
  created_at: CreatedAt;
  connected_at: NullableTime;
  disconnected_at: NullableTime;
  last_seen_at: NullableTime;
}

export interface DeploymentsTable {
  id: string;
  project_id: string;
  /** Null if the artifact was deleted: then its hash is here. */
  artifact_id: ColumnType<string | null, string, string | null>;
  artifact_hash: Nullable<string>;
  /** The artifact deployed before, for a rollback; null for the first, and if it was deleted. */
  previous_artifact_id: Nullable<string>;
  kind: 'deploy' | 'rollback' | 'automatic_rollback';
  status: Generated<'in_progress' | 'succeeded' | 'failed' | 'timed_out' | 'superseded' | 'rolled_back'>;
  /** Why it ended so. */
  reason: Nullable<string>;
  target_data_planes: number;
  /** Seconds. */
  timeout_seconds: number;
  /** Share of the targets that may refuse, 0 to 1; past it the previous artifact is deployed again. Null: never. */
  rollback_threshold: Nullable<number>;
  /** The deployment that a rollback reverts. */
  rollback_of: Nullable<string>;
  created_by: string;
  created_at: CreatedAt;
  expires_at: Timestamp;
  completed_at: NullableTime;
}

export interface DeploymentTargetsTable {
  deployment_id: string;
  data_plane_id: string;
  /** Name of the data plane, which may be deleted later. */
  name: string;
  status: Generated<'pending' | 'notified' | 'applied' | 'refused' | 'timed_out' | 'disconnected'>;
  reason: Nullable<string>;
  /** The artifact that it reported to serve. */
  served_hash: Nullable<string>;
  updated_at: Timestamp;
}

export interface ApiTokensTable {
  id: string;
  name: string;
  /** sha256 of the token, hex. */
  token_hash: string;
  prefix: string;
  role: 'viewer' | 'editor' | 'deployer' | 'admin';
  /** Null: all projects and resources outside projects. */
  project_id: Nullable<string>;
  created_by: string;
  created_at: CreatedAt;
  expires_at: NullableTime;
  last_used_at: NullableTime;
  revoked_at: NullableTime;
}

export interface AuditEntriesTable {
  id: string;
  at: Timestamp;
  /** `admin`, `token:<name>`, `oidc:<subject>`, `data-plane:<name>`, `system`. */
  actor: string;
  /** The operation, such as `projects.update`. */
  action: string;
  resource_type: string;
  resource_id: string;
  project_id: Nullable<string>;
  /** Without secrets: keys, tokens and plaintext of `writeOnly` config are left out. */
  before: ColumnType<object | null, string | null | undefined, never>;
  after: ColumnType<object | null, string | null | undefined, never>;
  /** Id of the HTTP request. */
  request_id: Nullable<string>;
}

interface IdempotencyKeysTable {
  actor: string;
  /** Unique with `actor`. */
  key: string;
  /** sha256 over method, URL and body. */
  fingerprint: string;
  /** Id of the current or last run. */
  claim: string;
  /** Its last sign of life. */
  claimed_at: ColumnType<Date, Date | undefined, Date>;
  /** Null while the request runs. */
  status: Nullable<number>;
  headers: ColumnType<Readonly<Record<string, string>> | null, string | undefined, string>;
  /** Body of the answer; null if it has no body. */
  body: ColumnType<unknown, string | undefined, string>;
  created_at: CreatedAt;
}

interface ReplicasTable {
  id: string;
  name: string;
  version: string;
  started_at: CreatedAt;
  heartbeat_at: Timestamp;
}

interface BlobsTable {
  sha256: string;
  size: number;
  created_at: CreatedAt;
  /** Time at which it was last stored or found: a sweep leaves young blobs. */
  touched_at: Timestamp;
}

interface BlobChunksTable {
  /** sha256 of a blob, or id of a running upload. */
  blob_key: string;
  n: number;
  bytes: ColumnType<Buffer, Uint8Array, never>;
}

interface BlobUploadsTable {
  id: string;
  created_at: CreatedAt;
  touched_at: Timestamp;
}

/** Periodic tasks that one replica does for all. */
interface MaintenanceTable {
  name: string;
  /** Time at which a replica last began it. */
  begun_at: Timestamp;
}
