/** A plugin of a project, with the content of its `plugin.toml`. */
import type { BodyAccess, JsonObject, PluginType } from '../artifact/format.ts';

/**
 * Content of `plugin.toml` (docs/reference/plugins.md#packages, docs/decisions.md#headers-plugins-read,
 * docs/decisions.md#plugin-declarations).
 */
export interface PluginManifest {
  readonly name: string;
  readonly version: string;
  readonly type: PluginType;
  readonly description?: string;
  /** This middleware identifies the caller (used by E1057). */
  readonly authenticates?: boolean;
  /**
   * This middleware refuses callers by their identity alone, and by the parts of a request that conditions in its
   * config read.
   */
  readonly authorizes?: boolean;
  /** This middleware answers CORS preflights and decorates early refusals (docs/decisions.md#cors-on-refusals). */
  readonly preflight?: boolean;
  /** This middleware inspects requests as they were sent, before parameters are validated if it is the first. */
  readonly inspects?: boolean;
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
   * Absent for a bare `.wasm` (E1071): then its type comes from its exports, and it has no capability
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
