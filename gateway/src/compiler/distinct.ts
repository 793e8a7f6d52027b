/**
 * Properties that tell the instances of a plugin in one chain apart (`x-gw-distinct`; docs/reference/plugins.md#chain).
 */

import { marked } from '../artifact/config-marks.ts';
import type { Json } from '../artifact/format.ts';
import type { Diagnostics, Place } from '../spec/diagnostic.ts';
import type { BoundUse } from './admitted-headers.ts';

/** A bound plugin and its place in the document. */
export interface PlacedUse extends BoundUse {
  readonly place: Place;
}

/** Reports E1030 if two instances have the same value. */
export function checkDistinct(uses: readonly PlacedUse[], diagnostics: Diagnostics): void {
  const seen = new Set<string>();
  for (const { plugin, use, place } of uses) {
    for (const { pointer, value } of plugin.marks.distinct.flatMap((pattern) => marked(use.config, pattern))) {
      const key = JSON.stringify([plugin.name, pointer, value]);
      if (seen.has(key)) refuse(diagnostics, place, plugin.name, pointer.slice(1), value);
      seen.add(key);
    }
  }
}

function refuse(diagnostics: Diagnostics, place: Place, plugin: string, property: string, value: Json): void {
  const shown = JSON.stringify(value);
  const message = `plugin "${plugin}": another instance in this chain has ${property} ${shown}, too`;
  diagnostics.add('E1030', place, message, `Give each instance a ${property} of its own.`);
}
