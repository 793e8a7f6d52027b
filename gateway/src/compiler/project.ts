/**
 * The one input of every door: command line, REST and Kubernetes build this, and only this, to compile
 * (docs/decisions.md#one-project).
 */
import type { BodyAccess, JsonObject, PluginType } from '../artifact/format.ts';

/** A file of the project: what specs are and what they `$ref`. Names are relative, with `/`, and never climb out. */
export interface ProjectFile {
  /** @example 'shop.yaml', 'schemas/book.yaml' */
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
  /** The name under which specs use it, such as `rate-limit`. */
  readonly name: string;
  /**
   * Absent where a bare `.wasm` was bundled (E1071): then its type comes from its exports, and it has no capability
   * (docs/decisions.md#undeclared-gets-nothing).
   */
  readonly manifest?: PluginManifest;
  readonly wasm: Uint8Array;
  /** JSON Schema of its config. Default: every config is taken. */
  readonly configSchema?: JsonObject;
  /** Default config of the plugin (a PluginRef's), below the project's (docs/decisions.md#one-project). Default: none. */
  readonly defaultConfig?: JsonObject;
  /**
   * The project's config for it, below an operation's. Default: none.
   *
   * @example { quota: 100, window: 60 }
   */
  readonly config?: JsonObject;
}

export interface CompileFlags {
  /** Upstreams may be `http://` and `ws://`, as with `--allow-plaintext`. Default: false. */
  readonly allowPlaintext?: boolean;
  /**
   * Findings that matter in production are errors, as with `--production`
   * (docs/reference/gateway.md#production-builds). Default: false.
   */
  readonly production?: boolean;
  /**
   * Commit that the specs come from, for `/provenance`. Default: none.
   *
   * @example '3f8c1d2'
   */
  readonly provenanceCommit?: string;
  /**
   * Where the build ran, for `/provenance`. Default: none.
   *
   * @example 'ci/github-actions'
   */
  readonly provenanceSource?: string;
  /**
   * PEM of a PKCS#8 Ed25519 private key: signs the artifact (docs/reference/gateway.md#signatures). Default: the
   * artifact is not signed.
   *
   * @example await readFile('signing.pem', 'utf8')
   */
  readonly signingKey?: string;
  /**
   * Seconds since the epoch for `compiled_at`: with equal ones, equal projects give equal bytes. Default: now.
   *
   * @example 1767225600
   */
  readonly sourceDateEpoch?: number;
}

export interface Project {
  /**
   * Names, out of `files`, of the documents to compile.
   *
   * @example ['shop.yaml']
   */
  readonly specs: readonly string[];
  /** The documents, and the files that they `$ref`. */
  readonly files: readonly ProjectFile[];
  /**
   * Every plugin that the documents use, also the built-in ones.
   *
   * @example [loadBuiltinPlugin('http-upstream')]
   */
  readonly plugins: readonly ProjectPlugin[];
  /**
   * Named upstreams: a config property marked as an upstream may say `upstream://<name>` instead of a URL. Default:
   * none.
   *
   * @example { books: { url: 'https://books.example.com' } }
   */
  readonly upstreams?: { readonly [name: string]: { readonly url: string } };
  readonly flags: CompileFlags;
}
