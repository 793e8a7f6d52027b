/**
 * Properties that tell the instances of a plugin in one chain apart (`x-gw-distinct`; docs/reference/plugins.md#chain).
 */

import { canonicalJson } from '../../artifact/canonical-json.ts';
import { marked } from '../../artifact/config-marks.ts';
import type { Json } from '../../artifact/format.ts';
import type { Diagnostics, Place } from '../../spec/diagnostic.ts';
import type { BoundUse } from './admitted-headers.ts';

/** A bound plugin and its place in the document. */
export interface PlacedUse extends BoundUse {
  readonly place: Place;
}

interface Instance {
  readonly config: string;
  readonly place: Place;
}

/** The instances of all chains of a project. */
export class Instances {
  readonly #diagnostics: Diagnostics;
  /** By plugin, property and value. */
  readonly #first = new Map<string, Instance>();
  readonly #told = new Set<string>();

  constructor(diagnostics: Diagnostics) {
    this.#diagnostics = diagnostics;
  }

  /**
   * Takes the instances of one chain. Reports E1030 if two have the same value, and E1081 once for a value that an
   * instance of another chain has beside different settings.
   */
  check(chain: readonly PlacedUse[]): void {
    const seen = new Set<string>();
    for (const { plugin, use, place } of chain) {
      for (const { pointer, value } of plugin.marks.distinct.flatMap((pattern) => marked(use.config, pattern))) {
        const key = JSON.stringify([plugin.name, pointer, value]);
        if (seen.has(key)) refuse(this.#diagnostics, place, plugin.name, pointer.slice(1), value);
        else this.#compare(key, { config: canonicalJson(use.config), place }, [plugin.name, pointer.slice(1), value]);
        seen.add(key);
      }
    }
  }

  #compare(key: string, instance: Instance, [plugin, property, value]: readonly [string, string, Json]): void {
    const first = this.#first.get(key);
    if (!first) this.#first.set(key, instance);
    if (!first || first.config === instance.config || this.#told.has(key)) return;
    this.#told.add(key);
    this.#diagnostics.add(
      'E1081',
      instance.place,
      `plugin "${plugin}": an instance with other settings has ${property} ${JSON.stringify(value)}, too (${first.place.file}#${first.place.pointer}): they share their counters`,
      `Give each instance a ${property} of its own, or both the same settings.`,
    );
  }
}

function refuse(diagnostics: Diagnostics, place: Place, plugin: string, property: string, value: Json): void {
  const shown = JSON.stringify(value);
  const message = `plugin "${plugin}": another instance in this chain has ${property} ${shown}, too`;
  diagnostics.add('E1030', place, message, `Give each instance a ${property} of its own.`);
}
