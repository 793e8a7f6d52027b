/**
 * Reads `manifest.json`, `routes.json` and `mcp.json` into the types of format.ts and tools.ts: shapes are checked
 * first.
 */
import { isObject, type Obj } from '../spec/json.ts';
import { ArtifactError } from './error.ts';
import {
  ARTIFACT_VERSION,
  CREDENTIAL_KINDS,
  type JsonObject,
  type Manifest,
  type RoutesFile,
  VERSION_FIELD,
} from './format.ts';
import { TOOLS_PATH, type ToolsFile } from './tools.ts';
import { EJECTION_LIMITS } from './upstream-policy.ts';

type Check = (value: unknown) => boolean;

const text: Check = (value) => typeof value === 'string';
const flag: Check = (value) => typeof value === 'boolean';
const seconds: Check = (value) => Number.isSafeInteger(value);
const count: Check = (value) => Number.isSafeInteger(value) && Number(value) >= 0;
const checksum: Check = (value) => typeof value === 'string' && /^sha256:[0-9a-f]{64}$/.test(value);
const oneOf =
  (...values: unknown[]): Check =>
  (value) =>
    values.includes(value);
const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
const mapOf =
  (check: Check): Check =>
  (value) =>
    isObject(value) && Object.values(value).every(check);
const shape =
  (members: Readonly<Record<string, Check>>): Check =>
  (value) =>
    isObject(value) && Object.entries(members).every(([name, check]) => check(value[name]));

const body = oneOf('none', 'stream', 'buffer');
const plugin = shape({
  name: text,
  version: text,
  plugin_type: oneOf('middleware', 'dispatcher'),
  wasm_path: text,
  sha256: checksum,
  capabilities: shape({
    body_access: flag,
    host_functions: listOf(text),
    request_body: body,
    response_body: body,
    cpu_ms: optional(count),
  }),
  preflight: optional(flag),
  inspects: optional(flag),
  authenticates: optional(flag),
  config_marks: optional(
    shape({
      upstreams: optional(listOf(text)),
      optional: optional(listOf(text)),
      credentials: optional(
        listOf(
          shape({
            pointer: text,
            property: text,
            kind: optional(oneOf(...CREDENTIAL_KINDS)),
            name: optional(text),
          }),
        ),
      ),
    }),
  ),
});

const manifestMembers: Readonly<Record<string, Check>> = {
  [VERSION_FIELD]: count,
  compiled_at: text,
  compiler_version: text,
  source_specs: listOf(shape({ file: text, sha256: checksum, type: oneOf('openapi', 'asyncapi'), version: text })),
  plugins: optional(listOf(plugin)),
  routes_count: count,
  checksums: mapOf(checksum),
  capabilities_enforced: flag,
  mcp: shape({ enabled: flag, server_name: optional(text), server_version: optional(text) }),
  artifact_hash: checksum,
  signature: optional(text),
  signing_public_key: optional(text),
  provenance: shape({ commit: optional(text), source: optional(text) }),
  manifest_hash: checksum,
  manifest_signature: optional(text),
};

const use = shape({ name: text, config: isObject });
const schemaRef = optional(shape({ $ref: text }));
const operation = shape({
  index: count,
  path: text,
  method: text,
  operation_id: optional(text),
  dispatch: use,
  middlewares: listOf(use),
  spec: text,
  api: text,
  parameters: listOf(
    shape({
      name: text,
      in: oneOf('path', 'query', 'querystring', 'header', 'cookie'),
      required: flag,
      style: text,
      explode: flag,
      content_type: optional(text),
      types: listOf(text),
      item_types: optional(listOf(text)),
      property_types: optional(mapOf(listOf(text))),
      schema: schemaRef,
    }),
  ),
  request_body: optional(shape({ required: flag, content: mapOf(shape({ schema: schemaRef })) })),
  admitted_headers: listOf(text),
  deprecated: optional(flag),
  deprecated_at: optional(seconds),
  sunset: optional(text),
});

const tool = shape({
  name: text,
  title: optional(text),
  description: optional(text),
  group: optional(text),
  annotations: mapOf(flag),
  operation: count,
  parameters: listOf(shape({ argument: text, parameter: count })),
  body: optional(
    shape({
      content_type: text,
      encoding: oneOf('json', 'form', 'multipart', 'text', 'base64'),
      required: flag,
      argument: optional(text),
      properties: optional(listOf(text)),
      open: optional(flag),
      binary: optional(listOf(text)),
    }),
  ),
  defaults: optional(mapOf(shape({ hidden: flag }))),
  scopes: optional(listOf(text)),
  input: isObject,
});
const upstream = shape({
  name: text,
  url: (value) => typeof value === 'string' && URL.canParse(value),
  prefix: text,
  allow: optional(listOf(text)),
  prompts: listOf(text),
  resources: listOf(text),
  headers: optional(mapOf(text)),
  forward_authorization: optional(flag),
  authorize: optional(count),
  timeout: (value) => typeof value === 'number' && value > 0 && value <= 3600,
  refresh: (value) => typeof value === 'number' && value >= 1 && value <= 86_400,
  pin: optional(mapOf(checksum)),
});
const accessRule = shape({ operation: count, middlewares: listOf(count) });
const authorization = shape({ resource: optional(text), servers: listOf(text), scopes: listOf(text) });

const within =
  ([least, most]: readonly [number, number]): Check =>
  (value) =>
    typeof value === 'number' && value >= least && value <= most;
const either =
  (...checks: Check[]): Check =>
  (value) =>
    checks.some((check) => check(value));
const hashSource = either(oneOf('client-address'), shape({ header: text }), shape({ cookie: text }));
const upstreamPolicy = shape({
  balance: either(oneOf('least-requests', 'round-robin'), shape({ hash: hashSource })),
  ejection: shape({
    failures: (value) => count(value) && within(EJECTION_LIMITS.failures)(value),
    cooldown: within(EJECTION_LIMITS.cooldown),
    panic: within(EJECTION_LIMITS.panic),
  }),
});

/** The manifest, and the same as plain JSON for hashing. Throws ArtifactError. */
export function readManifest(bytes: Buffer): { readonly manifest: Manifest; readonly json: JsonObject } {
  const json = parse(bytes, 'manifest.json');
  if (!isObject(json)) throw malformed('manifest.json is not an object');
  const version = json[VERSION_FIELD];
  if (!count(version)) throw malformed(`manifest.json has no ${VERSION_FIELD}`);
  if (version !== ARTIFACT_VERSION) {
    throw new ArtifactError(
      'unsupported-version',
      `its format is version ${version}, and this gateway reads version ${ARTIFACT_VERSION}: compile it again with a matching gw`,
    );
  }
  const bad = Object.entries(manifestMembers).find(([name, check]) => !check(json[name]));
  if (bad) throw malformed(`manifest.json has no valid "${bad[0]}"`);
  return { manifest: json as unknown as Manifest, json: json as JsonObject };
}

/** Throws ArtifactError. */
export function readRoutes(bytes: Buffer): RoutesFile {
  const json = parse(bytes, 'routes.json');
  if (!isObject(json) || !isObject(json['schemas']) || !Array.isArray(json['operations'])) {
    throw malformed('routes.json needs "operations" and "schemas"');
  }
  const bad = json['operations'].findIndex((each) => !operation(each));
  if (bad >= 0) throw malformed(`operation ${bad} of routes.json is not valid`);
  if (!optional(mapOf(upstreamPolicy))(json['upstreams'])) throw malformed('routes.json has no valid "upstreams"');
  return json as unknown as RoutesFile;
}

/** `operations`: how many routes.json has. Throws ArtifactError. */
export function readTools(bytes: Buffer, operations: number): ToolsFile {
  const json = parse(bytes, TOOLS_PATH);
  if (!isObject(json) || !isObject(json['schemas']) || !Array.isArray(json['tools'])) {
    throw malformed(`${TOOLS_PATH} needs "tools" and "schemas"`);
  }
  if (!optional(text)(json['instructions'])) throw malformed(`${TOOLS_PATH} has no valid "instructions"`);
  if (!optional(listOf(text))(json['origins'])) throw malformed(`${TOOLS_PATH} has no valid "origins"`);
  if (!optional(flag)(json['search'])) throw malformed(`${TOOLS_PATH} has no valid "search"`);
  if (
    !optional(listOf((each) => accessRule(each) && isAbsentOrBelow(operations)((each as Obj)['operation'])))(
      json['access'],
    )
  ) {
    throw malformed(`${TOOLS_PATH} has no valid "access"`);
  }
  if (!optional(authorization)(json['authorization'])) throw malformed(`${TOOLS_PATH} has no valid "authorization"`);
  const bad = json['tools'].findIndex((each) => !tool(each) || Number(each.operation) >= operations);
  if (bad >= 0) throw malformed(`tool ${bad} of ${TOOLS_PATH} is not valid`);
  const { upstreams = [] } = json;
  if (!listOf((each) => upstream(each) && isAbsentOrBelow(operations)((each as Obj)['authorize']))(upstreams)) {
    throw malformed(`${TOOLS_PATH} has no valid "upstreams"`);
  }
  return json as unknown as ToolsFile;
}

const isAbsentOrBelow =
  (most: number): Check =>
  (value) =>
    value === undefined || Number(value) < most;

/** Most values of a file; short ones take a hundred times their length in memory. */
const MOST_VALUES = 4_000_000;
const [COMMA, OBJECT, LIST] = [0x2c, 0x7b, 0x5b];

function parse(bytes: Buffer, name: string): unknown {
  let values = 0;
  for (const byte of bytes) if (byte === COMMA || byte === OBJECT || byte === LIST) values++;
  if (values > MOST_VALUES) throw malformed(`${name} has more than ${MOST_VALUES} values`);
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (cause) {
    throw new ArtifactError('malformed', `${name} is not JSON`, { cause });
  }
}

function malformed(message: string): ArtifactError {
  return new ArtifactError('malformed', message);
}
