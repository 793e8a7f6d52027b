/** The one input of every door: command line, REST and Kubernetes build this, and only this, to compile (D1). */
import type { BodyAccess, JsonObject, PluginType } from '../artifact/format.ts';

/** A file of the project: what specs are and what they `$ref`. Names are relative, with `/`, and never climb out. */
export interface ProjectFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** What `plugin.toml` says (reference 1, section 2.3; D13, D15). */
export interface PluginManifest {
  readonly name: string;
  readonly version: string;
  readonly type: PluginType;
  readonly description?: string;
  /** This middleware identifies the caller (E1057 goes by it). */
  readonly authenticates?: boolean;
  /** This middleware answers CORS preflights and decorates early refusals (D12). */
  readonly preflight?: boolean;
  /** Names or globs of request headers that the plugin reads whatever its config says (D13). */
  readonly request_headers?: readonly string[];
  readonly host_functions: readonly string[];
  readonly request_body: BodyAccess;
  readonly response_body: BodyAccess;
  readonly cpu_ms?: number;
}

export interface ProjectPlugin {
  /** The name under which specs use it. */
  readonly name: string;
  /** Absent where a bare `.wasm` was bundled (E1071): then its type comes from its exports, and it has no capability (D48). */
  readonly manifest?: PluginManifest;
  readonly wasm: Uint8Array;
  readonly configSchema?: JsonObject;
  /** Default config of the plugin (a PluginRef's), below the project's (D1). */
  readonly defaultConfig?: JsonObject;
  /** The project's config for it, below an operation's. */
  readonly config?: JsonObject;
}

export interface CompileFlags {
  readonly allowPlaintext?: boolean;
  /** D8. */
  readonly production?: boolean;
  readonly provenanceCommit?: string;
  readonly provenanceSource?: string;
  /** PEM of a PKCS#8 Ed25519 private key: signs the artifact (section 5). */
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
