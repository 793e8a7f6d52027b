/** Tokens that a request has cost, once it has ended: for policies (docs/decisions.md#ai-estimates). */

import type { Exchange } from '../../../kit.ts';
import { RealtimeSession } from './realtime-session.ts';
import { surfaceOf } from './surfaces/surface-of.ts';
import { type SpentTokens, TokenCount } from './token-count.ts';
import { TokenEstimate } from './token-estimate.ts';

export type { SpentTokens } from './token-count.ts';

/**
 * Returns the count of the last provider asked; for an answer that was cut off, the larger of its count so far and the
 * estimate of what arrived. Returns null if the count is unknown, since the client left before the answer came: the
 * provider may still bill it, so policies charge what they have reserved. A request that no provider has answered costs
 * nothing. The responses of a realtime session are settled as they end: the rest is nothing, or unknown if a response
 * was under way. A dispatcher other than ai-proxy leaves its count in the context.
 */
export function spentTokens(exchange: Exchange): SpentTokens | null {
  const count = TokenCount.of(exchange);
  if (count === null) return countOfOtherDispatcher(exchange);
  if (surfaceOf(exchange.path) === 'realtime') return RealtimeSession.of(exchange).unsettled;
  const { provider, model, usage, outcome } = count;
  if (outcome === 'pending') return null;
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
function countOfOtherDispatcher({ context }: Exchange): SpentTokens {
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
