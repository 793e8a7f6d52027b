/** A plugin's config as the plugin sees it, by JSON pointer (RFC 6901), with credential tables kept in the host. */
import type { ArtifactPlugin, Json, JsonObject } from '../artifact/format.ts';
import { CredentialTable } from './credential-table.ts';
import { PluginLoadError } from './plugin.ts';

export class ConfigView {
  /** Credential tables, by the pointer under which the plugin names them. */
  readonly credentials: ReadonlyMap<string, CredentialTable>;
  readonly #visible: Json;
  /** Pointers that have been looked up and exist; no larger than the config. */
  readonly #texts = new Map<string, string>();
  readonly #counts = new Map<string, number>();

  constructor(plugin: ArtifactPlugin, config: JsonObject) {
    const credentials = new Map<string, CredentialTable>();
    let visible: Json = config;
    for (const { pointer, property } of plugin.config_marks?.credentials ?? []) {
      for (const concrete of expandPointer(config, pointer)) {
        const table = valueAt(config, concrete);
        if (!Array.isArray(table)) throw new PluginLoadError(`config ${concrete} must be an array`);
        credentials.set(concrete, new CredentialTable(concrete, property, table));
        visible = replaceAt(
          visible,
          pointerParts(concrete),
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

function pointerParts(pointer: string): string[] {
  if (pointer === '') return [];
  return pointer
    .slice(1)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** The value at a JSON pointer; undefined where there is none, or the pointer is not one. */
export function valueAt(config: Json, pointer: string): Json | undefined {
  if (pointer !== '' && !pointer.startsWith('/')) return undefined;
  let value: Json | undefined = config;
  for (const part of pointerParts(pointer)) value = member(value, part);
  return value;
}

function member(value: Json | undefined, part: string): Json | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (isList(value)) return /^(0|[1-9]\d{0,9})$/.test(part) ? value[Number(part)] : undefined;
  return Object.hasOwn(value, part) ? value[part] : undefined;
}

/** Every pointer into `config` that a pattern with `*` for elements or members stands for. */
export function expandPointer(config: Json, pattern: string): string[] {
  let found: { readonly pointer: string; readonly value: Json }[] = [{ pointer: '', value: config }];
  for (const part of pointerParts(pattern)) {
    found = found.flatMap(({ pointer, value }) =>
      (part === '*' && typeof value === 'object' && value !== null ? Object.keys(value) : [part]).flatMap((key) => {
        const next = member(value, key);
        const name = key.replaceAll('~', '~0').replaceAll('/', '~1');
        return next === undefined ? [] : [{ pointer: `${pointer}/${name}`, value: next }];
      }),
    );
  }
  return found.map(({ pointer }) => pointer);
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

function without(entry: Json, property: string): Json {
  if (typeof entry !== 'object' || entry === null || isList(entry)) return entry;
  return Object.fromEntries(Object.entries(entry).filter(([name]) => name !== property));
}

function replaceAt(value: Json, parts: readonly string[], by: Json): Json {
  const [part, ...rest] = parts;
  if (part === undefined) return by;
  if (typeof value !== 'object' || value === null) return value;
  if (isList(value)) return value.map((item, i) => (String(i) === part ? replaceAt(item, rest, by) : item));
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, name === part ? replaceAt(item, rest, by) : item]),
  );
}
