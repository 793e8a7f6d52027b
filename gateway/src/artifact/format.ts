/**
 * The shape of a compiled artifact (docs/reference/gateway.md#artifact). Everything that serving needs is in these two
 * documents; `specs/` and `plugins/` ride along byte for byte.
 */
import type { Json, JsonObject } from '../spec/json.ts';
import type { SpecType } from '../spec/spec-version.ts';
import type { UpstreamPolicy } from './upstream-policy.ts';

/**
 * The format version that this build writes and the newest that it reads (docs/reference/gateway.md#format-version).
 */
export const ARTIFACT_VERSION = 6;

/**
 * The manifest's field that carries the format version; its name is one constant (docs/decisions.md#first-version-0-8).
 */
export const VERSION_FIELD = 'barbacane_artifact_version';

export const MANIFEST_PATH = 'manifest.json';
export const ROUTES_PATH = 'routes.json';
export const SPECS_DIR = 'specs/';
export const PLUGINS_DIR = 'plugins/';
/** Path of an entry that a config of a plugin is compiled to: its kind, and the SHA-256 of its bytes. */
export const DATA_PATH = /^[a-z]+\/[0-9a-f]{64}$/;

export type { Json, JsonObject, SpecType };

export type PluginType = 'middleware' | 'dispatcher';
/**
 * The part of a body that a plugin sees: none of it, chunks as they pass, or all of it at once
 * (docs/reference/plugins.md#bodies).
 */
export type BodyAccess = 'none' | 'stream' | 'buffer';

export interface SourceSpec {
  /** Base name, as under `specs/`. */
  readonly file: string;
  /** `sha256:<hex>` of the bytes. */
  readonly sha256: string;
  readonly type: SpecType;
  /** The specification's version, such as `3.1.0`. */
  readonly version: string;
}

export interface PluginCapabilities {
  /** True if either body is not `none` (docs/decisions.md#plugin-declarations). */
  readonly body_access: boolean;
  readonly host_functions: readonly string[];
  readonly request_body: BodyAccess;
  readonly response_body: BodyAccess;
  /** CPU milliseconds per call, if more than the default (docs/decisions.md#plugin-declarations). */
  readonly cpu_ms?: number;
}

export interface ArtifactPlugin {
  readonly name: string;
  readonly version: string;
  readonly plugin_type: PluginType;
  readonly wasm_path: string;
  /** `sha256:<hex>` of the module. */
  readonly sha256: string;
  readonly capabilities: PluginCapabilities;
  /**
   * This middleware answers CORS preflights, and its headers go on early refusals (docs/decisions.md#cors-on-refusals).
   */
  readonly preflight?: boolean;
  /**
   * This middleware inspects requests as they were sent: if it is the first, it runs before parameters are validated
   * (docs/decisions.md#request-order).
   */
  readonly inspects?: boolean;
  /**
   * This middleware identifies the caller; only such a plugin may write `x-auth-*`
   * (docs/decisions.md#plugin-declarations).
   */
  readonly authenticates?: boolean;
  /** Which config properties hold upstream URLs or credential tables, from the plugin's config schema. */
  readonly config_marks?: ConfigMarks;
}

/** JSON pointers into a plugin's config, with `*` for every element, taken from marks in its schema. */
export interface ConfigMarks {
  /**
   * `x-gw-upstream: true`: a URL that the host connects to (docs/decisions.md#plaintext-marked-urls,
   * docs/decisions.md#egress-allow). `x-gw-upstream: "name"`: the name of an upstream whose addresses are bound when it
   * is served.
   */
  readonly upstreams?: readonly string[];
  /** `x-gw-credentials`: arrays of objects that stay in the host. */
  readonly credentials?: readonly CredentialsMark[];
  /**
   * `x-gw-empty-is-unset: true`: a reference to an empty variable is empty text, which counts as unset
   * (docs/decisions.md#secrets-resolved).
   */
  readonly optional?: readonly string[];
}

/** Use of the entries of an array: `key` if the mark is the property's name alone. */
export const CREDENTIAL_KINDS = ['key', 'password', 'hmac'] as const;

export interface CredentialsMark {
  readonly pointer: string;
  /** The property that never enters the plugin's memory. */
  readonly property: string;
  /** Default `key`: found by that property. `password` and `hmac`: found by `name`. */
  readonly kind?: (typeof CREDENTIAL_KINDS)[number];
  /** The property that names the owner. */
  readonly name?: string;
}

export interface Manifest {
  readonly [VERSION_FIELD]: number;
  readonly compiled_at: string;
  readonly compiler_version: string;
  readonly source_specs: readonly SourceSpec[];
  readonly plugins?: readonly ArtifactPlugin[];
  readonly routes_count: number;
  readonly checksums: { readonly [path: string]: string };
  readonly capabilities_enforced: boolean;
  readonly mcp: { readonly enabled: boolean; readonly server_name?: string; readonly server_version?: string };
  readonly artifact_hash: string;
  readonly signature?: string;
  readonly signing_public_key?: string;
  readonly provenance: { readonly commit?: string; readonly source?: string };
  /** Seals every other field of the manifest (docs/decisions.md#manifest-sealed). */
  readonly manifest_hash: string;
  readonly manifest_signature?: string;
}

export interface PluginUse {
  readonly name: string;
  /**
   * Whole: schema defaults, plugin default, project and operation merged (docs/decisions.md#one-project); secrets are
   * still references.
   */
  readonly config: JsonObject;
}

/** A reference into `RoutesFile.schemas`. */
export interface SchemaRef {
  readonly $ref: string;
}

/** `querystring`: the whole query is the value (OpenAPI 3.2). */
export type ParameterIn = 'path' | 'query' | 'querystring' | 'header' | 'cookie';
export type ParameterStyle =
  | 'simple'
  | 'label'
  | 'matrix'
  | 'form'
  | 'spaceDelimited'
  | 'pipeDelimited'
  | 'deepObject'
  /** OpenAPI 3.2: as form, and not percent-encoded. */
  | 'cookie';

export interface Parameter {
  /** As declared; header names in lower case. */
  readonly name: string;
  readonly in: ParameterIn;
  readonly required: boolean;
  readonly style: ParameterStyle;
  readonly explode: boolean;
  readonly allow_reserved?: boolean;
  readonly allow_empty_value?: boolean;
  /** Present when the parameter is declared with `content` instead of `schema`. */
  readonly content_type?: string;
  /** JSON types that the schema admits at its top, so that text can be read as one of them. */
  readonly types: readonly string[];
  /** For arrays and objects: the types of the items and of the properties. */
  readonly item_types?: readonly string[];
  readonly property_types?: { readonly [name: string]: readonly string[] };
  /** Fields of a `querystring` that is written as a form. */
  readonly fields?: readonly FormField[];
  readonly schema?: SchemaRef;
}

/** How the text of one field of a form becomes a value of its property. */
export interface FormField {
  readonly name: string;
  /** Style in `application/x-www-form-urlencoded`; not used with `content_type`. */
  readonly style: ParameterStyle;
  readonly explode: boolean;
  /** The value is text of this type, `application/json` for objects, and not written in a style. */
  readonly content_type?: string;
  /** Media types and ranges that a part of `multipart/form-data` may have; absent if any may. */
  readonly part_types?: readonly string[];
  /** A part of `multipart/form-data` has a type of text and no filename. */
  readonly is_text?: boolean;
  readonly types: readonly string[];
  readonly item_types?: readonly string[];
  readonly property_types?: { readonly [name: string]: readonly string[] };
}

export interface MediaType {
  readonly schema?: SchemaRef;
  /** Fields of forms with a schema. */
  readonly fields?: readonly FormField[];
  /** JSON types that the schema of `text/*` admits, so that the text can be read as one of them. */
  readonly types?: readonly string[];
}

/** A described answer: its schema and its examples. */
export interface DescribedValue {
  /** Its annotations (`examples`, `default`, `writeOnly`) are kept. */
  readonly schema?: SchemaRef;
  /** Examples by name; the one without a name is that of `example`. */
  readonly examples?: { readonly [name: string]: Json };
  /** Names of those examples that are texts to be sent as they stand (`serializedValue`). */
  readonly serialized?: readonly string[];
  /** Schema of each item of a sequential media type (`itemSchema`). */
  readonly items?: SchemaRef;
}

export interface DescribedResponse {
  /** By media type or range, lower case, without parameters. */
  readonly content: { readonly [mediaType: string]: DescribedValue };
  /** By name, lower case. */
  readonly headers?: { readonly [name: string]: DescribedValue };
}

/** By media type or range, lower case, without parameters. */
export interface Content {
  readonly [mediaType: string]: MediaType;
}

/** Messages of a WebSocket. */
export interface WebSocketContent {
  /** Messages from clients. */
  readonly received?: Content;
  /** Messages to clients; present if responses are validated. */
  readonly sent?: Content;
}

export interface RequestBody {
  readonly required: boolean;
  readonly content: Content;
}

/**
 * `log` warns of a response that the spec does not describe, `enforce` withholds it
 * (docs/decisions.md#extension-places).
 */
/** `enforce-json`: as `enforce`, of JSON alone: responses of content types that are not described pass. */
export type ResponseValidation = 'log' | 'enforce' | 'enforce-json';

export interface Operation {
  readonly index: number;
  /** OpenAPI path template. */
  readonly path: string;
  /** Upper case. */
  readonly method: string;
  readonly operation_id?: string;
  readonly dispatch: PluginUse;
  readonly middlewares: readonly PluginUse[];
  /** Base name of the spec. */
  readonly spec: string;
  /** Slug of the spec's title: the metric label `api` (docs/decisions.md#labels-closed). */
  readonly api: string;
  readonly parameters: readonly Parameter[];
  readonly request_body?: RequestBody;
  /** Present if `x-gw-validate-response` is `log` or `enforce`. */
  readonly validate_response?: ResponseValidation;
  /** Content by status code, `4XX` or `default`; present if responses are validated. */
  readonly responses?: { readonly [status: string]: Content };
  /** By status code, `4XX` or `DEFAULT`; present if the dispatcher answers with examples of them. */
  readonly described_responses?: { readonly [status: string]: DescribedResponse };
  /** Schemas of the messages of its WebSockets, by content type; absent if any message may pass. */
  readonly messages?: WebSocketContent;
  /** Schemas of a broker's messages for clients, by content type; absent if any message may pass. */
  readonly streamed_messages?: Content;
  /** Media types and ranges of all successful responses; absent if one has no declared content. */
  readonly produces?: readonly string[];
  /**
   * Headers admitted beyond the baseline (docs/reference/gateway.md#header-admission), lower case; `*` at the end makes
   * a prefix.
   */
  readonly admitted_headers: readonly string[];
  readonly deprecated?: boolean;
  /** Unix seconds for `Deprecation`. */
  readonly deprecated_at?: number;
  /** HTTP-date for `Sunset`. */
  readonly sunset?: string;
}

export interface RoutesFile {
  readonly operations: readonly Operation[];
  /** JSON Schemas 2020-12, shared; each refers to others as `{"$ref": "gw:<id>"}`, whose neighbours apply as well. */
  readonly schemas: { readonly [id: string]: Json };
  /** Policies of the named upstreams that configs use; absent if they use none. */
  readonly upstreams?: { readonly [name: string]: UpstreamPolicy };
}
