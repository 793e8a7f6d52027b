/** The tables of a plugin's config that its schema marks `x-gw-credentials`: read at load, and hidden from the plugin. */

import { marked } from '../../artifact/config-marks.ts';
import type { ArtifactPlugin, CredentialsMark, Json, JsonObject } from '../../artifact/format.ts';
import { isList } from '../../spec/json.ts';
import { pointerTokens } from '../../spec/pointer.ts';
import { PluginLoadError } from '../binary/plugin-load-error.ts';

export type CredentialKind = NonNullable<CredentialsMark['kind']>;

/** One credential of a config. */
export interface CredentialEntry {
  /** Its place, for messages. */
  readonly at: string;
  /** Name of its property. */
  readonly property: string;
  readonly secret: string;
  /** Name of its owner; empty if it is found by itself. */
  readonly name: string;
}

export interface MarkedTable {
  readonly kind: CredentialKind;
  /** Under which the plugin names it. */
  readonly pointer: string;
  readonly entries: readonly CredentialEntry[];
}

export interface MarkedCredentials {
  readonly tables: readonly MarkedTable[];
  /** The config without the credentials. */
  readonly visible: JsonObject;
}

/** Throws PluginLoadError if an entry has no credential or name, or a name that another entry has too. */
export function markedCredentials(plugin: ArtifactPlugin, config: JsonObject): MarkedCredentials {
  const tables: MarkedTable[] = [];
  let visible: Json = config;
  for (const mark of plugin.config_marks?.credentials ?? []) {
    for (const { pointer, value: table } of marked(config, mark.pointer)) {
      if (!Array.isArray(table)) throw new PluginLoadError(`config ${pointer} must be an array`);
      const entries = table.map((entry: Json, index) => entryOf(entry, `config ${pointer}/${index}`, mark));
      if (mark.name !== undefined) checkNames(entries, mark.name);
      tables.push({ kind: mark.kind ?? 'key', pointer, entries });
      const hidden = table.map((entry) => without(entry, mark.property));
      visible = replaceAt(visible, pointerTokens(pointer) ?? [], hidden);
    }
  }
  return { tables, visible: visible as JsonObject };
}

function entryOf(entry: Json, at: string, { property, name: nameProperty }: CredentialsMark): CredentialEntry {
  const text = (wanted: string) => {
    const value =
      typeof entry === 'object' && entry !== null && !isList(entry) && Object.hasOwn(entry, wanted)
        ? entry[wanted]
        : undefined;
    if (typeof value === 'string' && value !== '') return value;
    throw new PluginLoadError(`${at} needs a ${wanted} that is not empty`);
  };
  return { at, property, secret: text(property), name: nameProperty === undefined ? '' : text(nameProperty) };
}

/** Throws PluginLoadError if two entries have one name. */
function checkNames(entries: readonly CredentialEntry[], property: string): void {
  const seen = new Map<string, number>();
  entries.forEach(({ at, name }, index) => {
    const other = seen.get(name);
    if (other !== undefined)
      throw new PluginLoadError(`${at} has the same ${property} as entry ${other}: use each once`);
    seen.set(name, index);
  });
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
