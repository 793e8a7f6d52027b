/** A plugin's config as the plugin sees it, by JSON pointer (RFC 6901), with credential tables kept in the host. */
import type { ArtifactPlugin, Json, JsonObject } from '../../artifact/format.ts';
import { valueAt } from '../../spec/pointer.ts';
import { type CredentialEntry, type CredentialKind, type MarkedTable, markedCredentials } from './credential-marks.ts';

export class ConfigView {
  /** Includes parts that the plugin does not see. */
  readonly whole: JsonObject;
  readonly #visible: Json;
  /** Keys and passwords, which the plugin does not see. */
  readonly #credentials: readonly MarkedTable[];
  /** Pointers that have been looked up and exist; no larger than the config. */
  readonly #texts = new Map<string, string>();
  readonly #counts = new Map<string, number>();

  constructor(plugin: ArtifactPlugin, config: JsonObject) {
    this.whole = config;
    const { tables, visible } = markedCredentials(plugin, config);
    this.#credentials = tables;
    this.#visible = visible;
  }

  /** The tables of credentials of this kind as `make` has them, by the pointers under which the plugin names them. */
  credentials<T>(
    kind: CredentialKind,
    make: (entries: readonly CredentialEntry[], pointer: string) => T,
  ): ReadonlyMap<string, T> {
    const tables = this.#credentials.filter((each) => each.kind === kind);
    return new Map(tables.map(({ pointer, entries }) => [pointer, make(entries, pointer)]));
  }

  /** Returns strings as they are, all else as JSON text; undefined if absent. */
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
