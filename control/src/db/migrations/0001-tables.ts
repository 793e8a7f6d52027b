/** The first tables. Statements, not a builder: this is what the database sees, and it must never change. */
import { type Kysely, sql } from 'kysely';

const STATEMENTS = `
CREATE TABLE blobs (
  sha256 text PRIMARY KEY,
  size bigint NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  touched_at timestamptz(3) NOT NULL DEFAULT now()
);
CREATE TABLE blob_chunks (
  blob_key text NOT NULL,
  n integer NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY (blob_key, n)
);
ALTER TABLE blob_chunks ALTER COLUMN bytes SET STORAGE EXTERNAL;
CREATE TABLE blob_uploads (
  id uuid PRIMARY KEY,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  touched_at timestamptz(3) NOT NULL DEFAULT now()
);

CREATE TABLE projects (
  id uuid PRIMARY KEY,
  name text NOT NULL CONSTRAINT projects_name_unique UNIQUE,
  description text NOT NULL,
  upstreams jsonb NOT NULL,
  version integer NOT NULL DEFAULT 1,
  deployed_artifact_id uuid,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now()
);

CREATE TABLE specs (
  id uuid PRIMARY KEY,
  project_id uuid REFERENCES projects ON DELETE CASCADE,
  name text NOT NULL,
  type text NOT NULL CHECK (type IN ('openapi', 'asyncapi')),
  title text NOT NULL,
  api_version text NOT NULL,
  revision integer NOT NULL,
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT specs_name_unique UNIQUE NULLS NOT DISTINCT (project_id, name)
);
CREATE TABLE spec_revisions (
  id uuid PRIMARY KEY,
  spec_id uuid NOT NULL REFERENCES specs ON DELETE CASCADE,
  revision integer NOT NULL,
  sha256 text NOT NULL REFERENCES blobs,
  size bigint NOT NULL,
  filename text NOT NULL,
  form text NOT NULL CHECK (form IN ('document', 'archive')),
  entry text NOT NULL,
  spec_version text NOT NULL,
  operations json NOT NULL,
  created_by text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  UNIQUE (spec_id, revision)
);
CREATE INDEX spec_revisions_blob ON spec_revisions (sha256);

CREATE TABLE plugins (
  id uuid PRIMARY KEY,
  name text NOT NULL,
  version text NOT NULL,
  type text NOT NULL CHECK (type IN ('middleware', 'dispatcher')),
  description text NOT NULL,
  manifest jsonb NOT NULL,
  config_schema jsonb,
  sha256 text NOT NULL REFERENCES blobs,
  size bigint NOT NULL,
  builtin boolean NOT NULL DEFAULT false,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT plugins_version_unique UNIQUE (name, version)
);
CREATE INDEX plugins_blob ON plugins (sha256);
CREATE TABLE project_plugins (
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  plugin_name text NOT NULL,
  plugin_version text NOT NULL,
  enabled boolean NOT NULL,
  config jsonb NOT NULL,
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT project_plugins_name_unique PRIMARY KEY (project_id, plugin_name),
  CONSTRAINT project_plugins_plugin FOREIGN KEY (plugin_name, plugin_version) REFERENCES plugins (name, version)
);

CREATE TABLE artifacts (
  id uuid PRIMARY KEY,
  project_id uuid REFERENCES projects ON DELETE CASCADE,
  artifact_hash text NOT NULL,
  file_sha256 text NOT NULL REFERENCES blobs,
  size bigint NOT NULL,
  manifest jsonb NOT NULL,
  signed_by text,
  production boolean NOT NULL,
  compiler_version text NOT NULL,
  artifact_version integer NOT NULL,
  created_by text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  CONSTRAINT artifacts_content_unique
    UNIQUE NULLS NOT DISTINCT (project_id, artifact_hash, production, artifact_version, signed_by)
);
CREATE INDEX artifacts_project ON artifacts (project_id, created_at);
CREATE INDEX artifacts_hash ON artifacts (artifact_hash);
CREATE INDEX artifacts_blob ON artifacts (file_sha256);
ALTER TABLE projects ADD CONSTRAINT projects_deployed_artifact
  FOREIGN KEY (deployed_artifact_id) REFERENCES artifacts;

CREATE TABLE compilations (
  id uuid PRIMARY KEY,
  spec_id uuid REFERENCES specs ON DELETE CASCADE,
  project_id uuid REFERENCES projects ON DELETE CASCADE,
  inputs jsonb NOT NULL,
  production boolean NOT NULL,
  status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'compiling', 'succeeded', 'failed')),
  stage text,
  attempts integer NOT NULL DEFAULT 0,
  claimed_by uuid,
  claimed_until timestamptz(3),
  artifact_id uuid REFERENCES artifacts ON DELETE SET NULL,
  diagnostics jsonb NOT NULL DEFAULT '[]',
  created_by text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  started_at timestamptz(3),
  completed_at timestamptz(3)
);
CREATE INDEX compilations_waiting ON compilations (created_at) WHERE status IN ('pending', 'compiling');
CREATE INDEX compilations_spec ON compilations (spec_id, created_at);
CREATE INDEX compilations_project ON compilations (project_id, created_at);

CREATE TABLE api_keys (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  name text NOT NULL,
  key_hash text NOT NULL UNIQUE,
  prefix text NOT NULL,
  created_by text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  last_used_at timestamptz(3),
  revoked_at timestamptz(3)
);
CREATE INDEX api_keys_project ON api_keys (project_id);

CREATE TABLE replicas (
  id uuid PRIMARY KEY,
  name text NOT NULL,
  version text NOT NULL,
  started_at timestamptz(3) NOT NULL DEFAULT now(),
  heartbeat_at timestamptz(3) NOT NULL DEFAULT now()
);

CREATE TABLE data_planes (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  name text NOT NULL,
  instance_id text NOT NULL,
  status text NOT NULL CHECK (status IN ('connected', 'disconnected', 'drifted', 'incompatible')),
  current_hash text,
  current_artifact_id uuid REFERENCES artifacts ON DELETE SET NULL,
  gw_version text NOT NULL,
  format_versions jsonb NOT NULL,
  api_key_id uuid REFERENCES api_keys ON DELETE SET NULL,
  replica_id uuid,
  connection_id uuid,
  address text,
  drift_detected boolean NOT NULL DEFAULT false,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  connected_at timestamptz(3),
  disconnected_at timestamptz(3),
  last_seen_at timestamptz(3),
  CONSTRAINT data_planes_name_unique UNIQUE (project_id, name, instance_id)
);
CREATE INDEX data_planes_replica ON data_planes (replica_id);

CREATE TABLE deployments (
  id uuid PRIMARY KEY,
  project_id uuid NOT NULL REFERENCES projects ON DELETE CASCADE,
  artifact_id uuid NOT NULL REFERENCES artifacts,
  previous_artifact_id uuid REFERENCES artifacts,
  kind text NOT NULL CHECK (kind IN ('deploy', 'rollback', 'automatic_rollback')),
  status text NOT NULL DEFAULT 'in_progress'
    CHECK (status IN ('in_progress', 'succeeded', 'failed', 'timed_out', 'superseded', 'rolled_back')),
  reason text,
  target_data_planes integer NOT NULL,
  timeout_seconds integer NOT NULL,
  rollback_threshold real,
  rollback_of uuid REFERENCES deployments ON DELETE SET NULL,
  created_by text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  expires_at timestamptz(3) NOT NULL,
  completed_at timestamptz(3)
);
CREATE INDEX deployments_project ON deployments (project_id, created_at);
CREATE UNIQUE INDEX deployments_one_in_progress ON deployments (project_id) WHERE status = 'in_progress';
CREATE TABLE deployment_targets (
  deployment_id uuid NOT NULL REFERENCES deployments ON DELETE CASCADE,
  data_plane_id uuid NOT NULL,
  name text NOT NULL,
  status text NOT NULL DEFAULT 'pending'
    CHECK (status IN ('pending', 'notified', 'applied', 'refused', 'timed_out', 'disconnected')),
  reason text,
  served_hash text,
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (deployment_id, data_plane_id)
);

CREATE TABLE api_tokens (
  id uuid PRIMARY KEY,
  name text NOT NULL CONSTRAINT api_tokens_name_unique UNIQUE,
  token_hash text NOT NULL UNIQUE,
  prefix text NOT NULL,
  role text NOT NULL CHECK (role IN ('viewer', 'editor', 'deployer', 'admin')),
  project_id uuid CONSTRAINT api_tokens_project REFERENCES projects ON DELETE CASCADE,
  created_by text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  expires_at timestamptz(3),
  last_used_at timestamptz(3),
  revoked_at timestamptz(3)
);

CREATE TABLE audit_entries (
  id uuid PRIMARY KEY,
  at timestamptz(3) NOT NULL DEFAULT now(),
  actor text NOT NULL,
  action text NOT NULL,
  resource_type text NOT NULL,
  resource_id text NOT NULL,
  project_id uuid,
  before jsonb,
  after jsonb,
  request_id text
);
CREATE INDEX audit_entries_at ON audit_entries (at, id);
CREATE INDEX audit_entries_project ON audit_entries (project_id, at);
CREATE INDEX audit_entries_resource ON audit_entries (resource_type, resource_id);

CREATE TABLE idempotency_keys (
  actor text NOT NULL,
  key text NOT NULL,
  fingerprint text NOT NULL,
  claim uuid NOT NULL,
  claimed_at timestamptz(3) NOT NULL DEFAULT now(),
  status integer,
  headers jsonb,
  body json,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (actor, key)
);
CREATE TABLE maintenance (
  name text PRIMARY KEY,
  begun_at timestamptz(3) NOT NULL
);
CREATE INDEX idempotency_keys_created ON idempotency_keys (created_at);
`;

// Timestamps have milliseconds, as JavaScript reads them: a page of a list continues exactly after the last one.
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS.split(/;\s*\n/)) {
    if (statement.trim() !== '') await sql.raw(statement).execute(db);
  }
}
