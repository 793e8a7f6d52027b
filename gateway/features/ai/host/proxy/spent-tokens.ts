/** Tokens that a request has cost, once it has ended: for policies (docs/decisions.md#ai-estimates). */

import type { Exchange } from '../../../kit.ts';
import { RealtimeSession } from './realtime-session.ts';
import { surfaceOf } from './surfaces/surface-of.ts';
import { type SpentTokens, TokenCount } from './token-count.ts';
import { TokenEstimate } from './token-estimate.ts';

export type { SpentTokens } from './token-count.ts';

/**
 * Returns the provider's count; for a cut answer, at least the part that arrived. Returns null if the count is unknown:
 * the client left before the answer came, which the provider may have made all the same. A request that no provider has
 * answered costs nothing. The responses of a realtime session are settled as they end: the rest is nothing, or unknown
 * if a response was under way.
 */
export function spentTokens(exchange: Exchange): SpentTokens | null {
  const count = TokenCount.of(exchange);
  if (count === null) return fromContext(exchange);
  if (surfaceOf(exchange.path) === 'realtime') return RealtimeSession.of(exchange).unsettled;
  const { provider, model, usage, outcome } = count;
  if (outcome === 'asked') return null;
  if (outcome === 'failed') return { provider, model, prompt: 0, completion: 0, cached: 0 };
  if (outcome === 'complete' && usage !== null) return { provider, model, ...usage };
  const estimate = TokenEstimate.of(exchange);
  return {
    provider,
    model,
    prompt: usage?.prompt ?? estimate?.prompt ?? 0,
    completion: Math.max(usage?.completion ?? 0, estimate?.completion ?? 0),
    cached: usage?.cached ?? 0,
    written: usage?.written ?? 0,
    writtenLong: usage?.writtenLong ?? 0,
  };
}

/** Reads the counts of other dispatchers (docs/reference/plugins.md#ai-context). */
function fromContext({ context }: Exchange): SpentTokens {
  const tokens = (key: string) => {
    const text = context?.get(key) ?? '';
    return /^\d{1,15}$/.test(text) ? Number(text) : 0;
  };
  return {
    provider: context?.get('ai.provider') ?? '',
    model: context?.get('ai.model') ?? '',
    prompt: tokens('ai.prompt_tokens'),
    completion: tokens('ai.completion_tokens'),
    cached: tokens('ai.cached_tokens'),
  };
}
