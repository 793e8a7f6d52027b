/** Estimates a count of tokens if the provider of a model cannot count, without asking one. */

import type { Answer, Obj } from '../../../kit.ts';
import { promptTokens } from './token-estimate.ts';

/** Estimates from the length of texts, as budgets do (docs/decisions.md#ai-estimates). */
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
