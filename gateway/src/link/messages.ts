/**
 * Messages of the data-plane link, `gw.data-plane.v1` (docs/data-plane-protocol.md): the one source of their types,
 * their validators and the document's tables. Unknown members are ignored, so that either side may be newer.
 */
import Type, { type Static, type TSchema } from 'typebox';
import { MAX_API_KEY } from './api-key.ts';
import { CLOSE_REASONS } from './close-codes.ts';

/** WebSocket subprotocol: the protocol's version. */
export const SUBPROTOCOL = 'gw.data-plane.v1';
/** Path of the WebSocket under the control plane's address (docs/reference/control-plane.md#channel). */
export const LINK_PATH = '/ws/data-plane';
/** Bytes of a message, in both directions. */
export const MAX_MESSAGE_BYTES = 16 << 10;

const nullable = <T extends TSchema>(schema: T, description: string) =>
  Type.Union([schema, Type.Null()], { description });
const sha256 = (description?: string) =>
  Type.String({ pattern: '^sha256:[0-9a-f]{64}$', ...(description === undefined ? {} : { description }) });
/** Shown to people: no control characters. */
const shown = (maxLength: number, description: string) =>
  Type.String({ minLength: 1, maxLength, pattern: '^[^\\u0000-\\u001f\\u007f]*$', description });
const id = (description: string) => shown(128, description);
const UUID = '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$';

/** Reasons for which a data plane does not serve an offered artifact. */
export const REFUSALS = {
  'download-failed': 'the file could not be fetched so far; the data plane goes on trying',
  checksum: "the file's sha256 or size is not that of the notice, or its `artifact_hash` is another",
  'too-large': 'the file is larger than the data plane takes',
  unreadable: 'the file is not an artifact, or is damaged',
  'unsupported-version': 'the data plane does not read this artifact format',
  signature: 'no trusted key has signed it',
  secrets: 'a secret that it refers to does not resolve on this data plane',
  'load-failed': 'a plugin or an upstream does not load',
} as const;
export type RefusalReason = keyof typeof REFUSALS;
const REFUSAL_REASONS: readonly RefusalReason[] = Object.keys(REFUSALS).filter(isRefusalReason);

function isRefusalReason(name: string): name is RefusalReason {
  return Object.hasOwn(REFUSALS, name);
}

const notice = {
  deployment_id: nullable(id('deployment'), 'the deployment that this belongs to; null if it belongs to no deployment'),
  artifact_id: id('id of the artifact at the control plane'),
  artifact_hash: sha256('`artifact_hash` of its manifest'),
  sha256: sha256('of the file'),
  size: Type.Integer({ minimum: 1, description: 'bytes of the file' }),
  path: Type.String({
    minLength: 1,
    maxLength: 2048,
    pattern: '^/',
    description: `where the file is fetched, under the address that \`${LINK_PATH}\` is under`,
  }),
};
const served = nullable(sha256(), '`artifact_hash` that traffic is served from; null if no artifact is loaded');

export const Notice = Type.Object(notice);
/** An artifact that the control plane wants served. */
export type Notice = Static<typeof Notice>;

export const Hello = Type.Object({
  type: Type.Literal('hello'),
  api_key: Type.String({
    minLength: 1,
    maxLength: MAX_API_KEY,
    description: 'API key of the project, or what takes its place',
  }),
  project_id: Type.String({ pattern: UUID, description: 'UUID of the project' }),
  name: shown(253, 'name that people see, by default the host name'),
  instance_id: Type.String({
    pattern: '^[A-Za-z0-9._-]{1,64}$',
    description: 'the same for the same instance when it connects again',
  }),
  gw_version: shown(64, 'version of gw'),
  artifact_versions: Type.Array(Type.Integer({ minimum: 1 }), {
    minItems: 1,
    maxItems: 32,
    description: 'artifact formats that it reads',
  }),
  artifact_hash: served,
  labels: Type.Record(Type.String({ pattern: '^[A-Za-z0-9._/-]{1,63}$' }), shown(253, 'value'), {
    maxProperties: 32,
    additionalProperties: false,
    description: 'what operators want to tell it by',
  }),
});
/** The data plane's first message, within 10 s. */
export type Hello = Static<typeof Hello>;

export const Status = Type.Object({
  type: Type.Literal('status'),
  deployment_id: notice.deployment_id,
  artifact_id: notice.artifact_id,
  artifact_hash: served,
  outcome: Type.Union([Type.Literal('applied'), Type.Literal('refused')], {
    description: '`applied`: all traffic is served from it; `refused`: what was served before is served on',
  }),
  reason: nullable(Type.Enum([...REFUSAL_REASONS]), 'of a refusal: one of the reasons below; null if it was applied'),
  detail: nullable(Type.String({ maxLength: 1024 }), 'the reason in words; names references, never secrets'),
});
/** Outcome of a notice. The last one about a notice holds: a refusal may be followed by `applied`. */
export type Status = Static<typeof Status>;

export const Heartbeat = Type.Object({ type: Type.Literal('heartbeat'), artifact_hash: served });
/** The data plane is alive, with the artifact that it serves. The control plane answers each with one. */
export type Heartbeat = Static<typeof Heartbeat>;

export const Welcome = Type.Object({
  type: Type.Literal('welcome'),
  data_plane_id: id('id of this data plane at the control plane'),
  heartbeat_seconds: Type.Number({
    minimum: 0.05,
    maximum: 3600,
    description: 'seconds between heartbeats; after three without one either side ends the connection',
  }),
  artifact: nullable(
    Notice,
    'wanted artifact; null if nothing was deployed yet: the data plane goes on with the artifact that it serves',
  ),
});
/** The answer to `hello`. */
export type Welcome = Static<typeof Welcome>;

export const Refused = Type.Object({
  type: Type.Literal('refused'),
  reason: Type.Enum([...CLOSE_REASONS], { description: 'name of the close code that follows' }),
  detail: Type.String({ maxLength: 1024, description: 'the fault, and what to do' }),
});
/** Why the control plane closes; the close code follows. */
export type Refused = Static<typeof Refused>;

export const Artifact = Type.Object({ type: Type.Literal('artifact'), ...notice });
/** Another artifact is wanted from now on. A newer one takes the place of those before it. */
export type Artifact = Static<typeof Artifact>;

export const Answer = Type.Object({ type: Type.Literal('heartbeat') });
/** The control plane's answer to a heartbeat. */
export type Answer = Static<typeof Answer>;

export const Drift = Type.Object({
  type: Type.Literal('drift'),
  drifted: Type.Boolean({ description: 'whether the served artifact differs from the wanted one' }),
  wanted: nullable(sha256(), '`artifact_hash` that is wanted'),
});
/** The served artifact differs from the wanted one, though no deployment is in progress; or they match again. */
export type Drift = Static<typeof Drift>;

export const Goodbye = Type.Object({
  type: Type.Literal('goodbye'),
  after_ms: Type.Integer({
    minimum: 0,
    maximum: 600_000,
    description: 'milliseconds after which to connect again, to any replica',
  }),
});
/** A close that is planned: close code 1001 follows. */
export type Goodbye = Static<typeof Goodbye>;

/** Messages by `type`. */
export const TO_CONTROL = { hello: Hello, status: Status, heartbeat: Heartbeat } as const;
export const TO_DATA_PLANE = {
  welcome: Welcome,
  refused: Refused,
  artifact: Artifact,
  heartbeat: Answer,
  drift: Drift,
  goodbye: Goodbye,
} as const;
export type ToControl = Hello | Status | Heartbeat;
export type ToDataPlane = Welcome | Refused | Artifact | Answer | Drift | Goodbye;
