/** A count of tokens where the provider of a model has none: no provider is asked. */
import type { Answer } from '../../exchange.ts';
import type { Obj } from '../../spec/json.ts';
import { promptTokens } from './token-estimate.ts';

/** By the length of texts, as budgets go by it (docs/decisions.md#ai-estimates). */
export function estimatedCount(request: Obj): Answer {
  return {
    status: 200,
    headers: [
      'content-type',
      'application/json',
      'warning',
      '299 gw "the tokens were estimated by the length of texts"',
    ],
    body: JSON.stringify({ input_tokens: promptTokens(request) }),
  };
}
