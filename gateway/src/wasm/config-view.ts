/** A plugin's config as the plugin sees it, by JSON pointer (RFC 6901), with credential tables kept in the host. */
import type { ArtifactPlugin, Json, JsonObject } from '../artifact/format.ts';
import type { ResponseCache } from '../capabilities/cache/response-cache.ts';
import type { Directory } from '../capabilities/directory/directory.ts';
import type { TokenVerifier } from '../capabilities/tokens/token-verifier.ts';
import { valueAt } from '../spec/pointer.ts';
import { type CredentialTables, credentialTables } from './credential-marks.ts';

export class ConfigView {
  /** Keys and passwords, which the plugin does not see. */
  readonly credentials: CredentialTables;
  /** What `init` has opened with `host_token_open`. */
  readonly verifiers: TokenVerifier[] = [];
  /** What `init` has opened with `host_cache_open`. */
  readonly caches: ResponseCache[] = [];
  /** What `init` has opened with `host_directory_open`. */
  directory: Directory | null = null;
  /** With what the plugin does not see. */
  readonly whole: JsonObject;
  readonly #visible: Json;
  /** Pointers that have been looked up and exist; no larger than the config. */
  readonly #texts = new Map<string, string>();
  readonly #counts = new Map<string, number>();

  constructor(plugin: ArtifactPlugin, config: JsonObject) {
    this.whole = config;
    this.credentials = credentialTables(plugin, config);
    this.#visible = this.credentials.visible;
  }

  /** Strings as they are, all else as JSON text; undefined where there is nothing. */
  text(pointer: string): string | undefined {
    const known = this.#texts.get(pointer);
    if (known !== undefined) return known;
    const value = valueAt(this.#visible, pointer);
    if (value === undefined) return undefined;
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    this.#texts.set(pointer, text);
    return text;
  }

  /** Elements of an array or members of an object, -1 for others. */
  count(pointer: string): number {
    const known = this.#counts.get(pointer);
    if (known !== undefined) return known;
    const count = this.#countAt(pointer);
    if (count >= 0) this.#counts.set(pointer, count);
    return count;
  }

  #countAt(pointer: string): number {
    const value = valueAt(this.#visible, pointer);
    if (typeof value !== 'object' || value === null) return -1;
    return Array.isArray(value) ? value.length : Object.keys(value).length;
  }

  /** Name of an object's member. */
  key(pointer: string, index: number): string | undefined {
    const value = valueAt(this.#visible, pointer);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    return Object.keys(value)[index];
  }
}
