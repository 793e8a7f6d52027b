/** A plugin's config as the plugin sees it, by JSON pointer (RFC 6901), with credential tables kept in the host. */
import type { ArtifactPlugin, Json, JsonObject } from '../artifact/format.ts';
import { marked } from '../compiler/config-marks.ts';
import { pointerTokens, valueAt } from '../spec/pointer.ts';
import type { TokenVerifier } from '../tokens/token-verifier.ts';
import { CredentialTable } from './credential-table.ts';
import { PluginLoadError } from './plugin.ts';

export class ConfigView {
  /** Credential tables, by the pointer under which the plugin names them. */
  readonly credentials: ReadonlyMap<string, CredentialTable>;
  /** What `init` has opened with `host_token_open`. */
  readonly verifiers: TokenVerifier[] = [];
  /** With what the plugin does not see. */
  readonly whole: JsonObject;
  readonly #visible: Json;
  /** Pointers that have been looked up and exist; no larger than the config. */
  readonly #texts = new Map<string, string>();
  readonly #counts = new Map<string, number>();

  constructor(plugin: ArtifactPlugin, config: JsonObject) {
    this.whole = config;
    const credentials = new Map<string, CredentialTable>();
    let visible: Json = config;
    for (const { pointer, property } of plugin.config_marks?.credentials ?? []) {
      for (const { pointer: concrete, value: table } of marked(config, pointer)) {
        if (!Array.isArray(table)) throw new PluginLoadError(`config ${concrete} must be an array`);
        credentials.set(concrete, new CredentialTable(concrete, property, table));
        visible = replaceAt(
          visible,
          pointerTokens(concrete) ?? [],
          table.map((entry) => without(entry, property)),
        );
      }
    }
    this.credentials = credentials;
    this.#visible = visible;
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

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

function without(entry: Json, property: string): Json {
  if (typeof entry !== 'object' || entry === null || isList(entry)) return entry;
  return Object.fromEntries(Object.entries(entry).filter(([name]) => name !== property));
}

function replaceAt(value: Json, tokens: readonly string[], by: Json): Json {
  const [token, ...rest] = tokens;
  if (token === undefined) return by;
  if (typeof value !== 'object' || value === null) return value;
  if (isList(value)) return value.map((item, i) => (String(i) === token ? replaceAt(item, rest, by) : item));
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, name === token ? replaceAt(item, rest, by) : item]),
  );
}
