/**
 * The one input of every door: command line, REST and Kubernetes build this, and only this, to compile
 * (docs/decisions.md#one-project).
 */
import type { BodyAccess, JsonObject, PluginType } from '../artifact/format.ts';

/** A file of the project: what specs are and what they `$ref`. Names are relative, with `/`, and never climb out. */
export interface ProjectFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/**
 * What `plugin.toml` says (docs/reference/plugins.md#packages, docs/decisions.md#headers-plugins-read,
 * docs/decisions.md#plugin-declarations).
 */
export interface PluginManifest {
  readonly name: string;
  readonly version: string;
  readonly type: PluginType;
  readonly description?: string;
  /** This middleware identifies the caller (E1057 goes by it). */
  readonly authenticates?: boolean;
  /** This middleware answers CORS preflights and decorates early refusals (docs/decisions.md#cors-on-refusals). */
  readonly preflight?: boolean;
  /**
   * Names or globs of request headers that the plugin reads whatever its config says
   * (docs/decisions.md#headers-plugins-read).
   */
  readonly request_headers?: readonly string[];
  readonly host_functions: readonly string[];
  readonly request_body: BodyAccess;
  readonly response_body: BodyAccess;
  readonly cpu_ms?: number;
}

export interface ProjectPlugin {
  /** The name under which specs use it. */
  readonly name: string;
  /**
   * Absent where a bare `.wasm` was bundled (E1071): then its type comes from its exports, and it has no capability
   * (docs/decisions.md#undeclared-gets-nothing).
   */
  readonly manifest?: PluginManifest;
  readonly wasm: Uint8Array;
  readonly configSchema?: JsonObject;
  /** Default config of the plugin (a PluginRef's), below the project's (docs/decisions.md#one-project). */
  readonly defaultConfig?: JsonObject;
  /** The project's config for it, below an operation's. */
  readonly config?: JsonObject;
}

export interface CompileFlags {
  readonly allowPlaintext?: boolean;
  /** docs/reference/gateway.md#production-builds. */
  readonly production?: boolean;
  readonly provenanceCommit?: string;
  readonly provenanceSource?: string;
  /** PEM of a PKCS#8 Ed25519 private key: signs the artifact (docs/reference/gateway.md#signatures). */
  readonly signingKey?: string;
  /** Seconds since the epoch for `compiled_at`; default now. */
  readonly sourceDateEpoch?: number;
}

export interface Project {
  /** Names, out of `files`, of the documents to compile. */
  readonly specs: readonly string[];
  readonly files: readonly ProjectFile[];
  readonly plugins: readonly ProjectPlugin[];
  /** Named upstreams: a config property marked as an upstream may say `upstream://<name>` instead of a URL. */
  readonly upstreams?: { readonly [name: string]: { readonly url: string } };
  readonly flags: CompileFlags;
}
