/** Which target a request goes to, and why (docs/reference/plugins.md#ai-resolution). */

import type { Exchange } from '../../../../kit.ts';
import { refusal } from '../conversation/refusal.ts';
import type { Alias, AliasedModel } from './aliases.ts';
import type { AiSettings } from './settings.ts';
import type { Target } from './targets.ts';

/** Ways to a target; values of a metric's label. */
export const RESOLUTIONS = ['context', 'alias', 'routes', 'default', 'flat'] as const;

export interface Resolved {
  readonly target: Target;
  /** The model's own name, if the client asked for an alias. */
  readonly model: string;
  /** Null if the client named a model. */
  readonly alias: Alias | null;
  readonly resolution: (typeof RESOLUTIONS)[number];
}

const TARGET_KEY = 'ai.target';

/** Throws AiRefusal if the model leads to no target, and if the target's catalog lacks the model. */
export function resolve(settings: AiSettings, exchange: Exchange, name: string): Resolved {
  const resolved = find(settings, exchange, name);
  if (resolved === null) {
    const detail = `No target is configured for the model ${quote(name)}.`;
    throw refusal('validation-failed', 'no_route', detail, { param: 'model' });
  }
  if (!resolved.target.permits(resolved.model)) throw notPermitted(name);
  return resolved;
}

/** Aliases that a request would be let through with. */
export function permittedAliases(settings: AiSettings, exchange: Exchange): readonly string[] {
  return [...settings.aliases.keys()].filter((name) => {
    const resolved = find(settings, exchange, name);
    return resolved?.target.permits(resolved.model);
  });
}

/** Reports whether a request that names this model would be let through to one of these targets. */
export function leadsTo(settings: AiSettings, exchange: Exchange, model: string, targets: readonly Target[]): boolean {
  const found = find(settings, exchange, model);
  return found !== null && targets.includes(found.target) && found.target.permits(found.model);
}

/** Returns the targets to ask in turn if the target fails, as far as each permits its model. */
export function fallbacks(settings: AiSettings, { alias, model }: Resolved): readonly Spare[] {
  const same = settings.fallback.map((target) => ({ target, model }));
  const spares = alias?.fallback?.flatMap((each) => spareOf(settings, each)) ?? same;
  return spares.filter((each) => each.target.permits(each.model));
}

export interface Spare {
  readonly target: Target;
  readonly model: string;
}

function spareOf(settings: AiSettings, { model, target }: AliasedModel): readonly Spare[] {
  const found = target ?? byModel(settings, model)?.target;
  return found ? [{ target: found, model }] : [];
}

/** Returns the name of a target that a policy has chosen and that the config lacks; otherwise null. */
export function unknownTarget({ targets }: AiSettings, exchange: Exchange): string | null {
  const chosen = exchange.context?.get(TARGET_KEY);
  return chosen === undefined || targets.has(chosen) ? null : chosen;
}

/** Returns the target that a policy has chosen, if the config has it. */
export function chosenTarget({ targets }: AiSettings, exchange: Exchange): Target | null {
  return targets.get(exchange.context?.get(TARGET_KEY) ?? '') ?? null;
}

function find(settings: AiSettings, exchange: Exchange, name: string): Resolved | null {
  const alias = settings.aliases.get(name) ?? null;
  const named = { alias, model: alias?.model ?? name };
  const chosen = chosenTarget(settings, exchange);
  if (chosen !== null) return { ...named, target: chosen, resolution: 'context' };
  if (alias?.target) return { ...named, target: alias.target, resolution: 'alias' };
  const found = byModel(settings, named.model);
  return found && { ...named, ...found };
}

/** Chooses by the model's own name. */
function byModel({ routes, fallsTo, flat }: AiSettings, model: string): Pick<Resolved, 'target' | 'resolution'> | null {
  const route = routes.find(({ pattern }) => pattern.matches(model));
  if (route) return { target: route.target, resolution: 'routes' };
  if (fallsTo) return { target: fallsTo, resolution: 'default' };
  return flat && { target: flat, resolution: 'flat' };
}

function notPermitted(model: string) {
  const detail = `The model ${quote(model)} is not in the catalog of its target.`;
  return refusal('forbidden', 'model_not_permitted', detail, { param: 'model' });
}

/** A client's text in a problem: not more of it than a name has. */
function quote(model: string): string {
  return JSON.stringify(model.length > 128 ? `${model.slice(0, 128)}…` : model);
}
