/** The gateway's own names for models: clients ask for `fast`, and the config maps it to a current model. */

import type { JsonObject } from '../../../../kit.ts';
import { objectOf, objectsOf, type Target } from './targets.ts';

export interface AliasedModel {
  /** As providers name it. */
  readonly model: string;
  /** Null: the target that its name leads to. */
  readonly target: Target | null;
}

export interface Alias extends AliasedModel {
  /** In place of the config's own, with models of their own; null: the config's own gets the same model. */
  readonly fallback: readonly AliasedModel[] | null;
}

/** Throws if an alias names a target that `targets` lacks. */
export function aliasesOf(config: JsonObject, targets: ReadonlyMap<string, Target>): ReadonlyMap<string, Alias> {
  const aliases = Object.entries(objectOf(config['aliases'] ?? {}) ?? {});
  return new Map(
    aliases.flatMap(([name, each]) => {
      const alias = objectOf(each);
      if (alias === null) return [];
      const aliased = (one: JsonObject) => aliasedModel(name, one, targets);
      const fallback = objectsOf(alias['fallback']).map(aliased);
      return [[name, { ...aliased(alias), fallback: fallback.length === 0 ? null : fallback }] as const];
    }),
  );
}

function aliasedModel(
  alias: string,
  { model, target: name }: JsonObject,
  targets: ReadonlyMap<string, Target>,
): AliasedModel {
  const target = name === undefined ? null : targets.get(String(name));
  if (target === undefined)
    throw new Error(`aliases: target of ${JSON.stringify(alias)} must be one of the names in targets`);
  return { model: String(model), target };
}
