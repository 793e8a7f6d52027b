/** Which target a request goes to, and why (docs/reference/plugins.md#ai-resolution). */
import type { Exchange } from '../../../exchange.ts';
import { refused } from '../conversation/refusal.ts';
import type { AiSettings } from './settings.ts';
import type { Target } from './targets.ts';

/** What has led to it; values of a metric's label. */
export const RESOLUTIONS = ['context', 'routes', 'default', 'flat'] as const;

export interface Resolved {
  readonly target: Target;
  readonly resolution: (typeof RESOLUTIONS)[number];
}

const TARGET_KEY = 'ai.target';

/** Throws AiRefused where nothing leads to a target, and where the target's catalog has not the model. */
export function resolve(settings: AiSettings, x: Exchange, model: string): Resolved {
  const resolved = find(settings, x, model);
  if (resolved === null) {
    const detail = `No target is configured for the model ${quoted(model)}.`;
    throw refused('validation-failed', 'no_route', detail, { param: 'model' });
  }
  if (!resolved.target.permits(model)) throw notPermitted(model);
  return resolved;
}

/** Name of a target that a policy has chosen, and that the config does not have; null where there is no such. */
export function unknownTarget({ targets }: AiSettings, x: Exchange): string | null {
  const chosen = x.context?.get(TARGET_KEY);
  return chosen === undefined || targets.has(chosen) ? null : chosen;
}

function find({ targets, routes, fallsTo, flat }: AiSettings, x: Exchange, model: string): Resolved | null {
  const chosen = targets.get(x.context?.get(TARGET_KEY) ?? '');
  if (chosen) return { target: chosen, resolution: 'context' };
  const route = routes.find(({ pattern }) => pattern.matches(model));
  if (route) return { target: route.target, resolution: 'routes' };
  if (fallsTo) return { target: fallsTo, resolution: 'default' };
  return flat && { target: flat, resolution: 'flat' };
}

function notPermitted(model: string) {
  const detail = `The model ${quoted(model)} is not in the catalog of its target.`;
  return refused('forbidden', 'model_not_permitted', detail, { param: 'model' });
}

/** A client's text in a problem: not more of it than a name has. */
function quoted(model: string): string {
  return JSON.stringify(model.length > 128 ? `${model.slice(0, 128)}…` : model);
}
