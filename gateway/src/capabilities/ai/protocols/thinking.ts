/** Thinking of messages: a budget of tokens, which is part of the limit of the answer. */
import type { Conversation } from '../conversation/conversation.ts';
import type { Effort } from '../conversation/effort.ts';

/** The share of the answer's tokens that each effort may think with. */
const SHARES: Readonly<Record<Effort, number>> = { none: 0, minimal: 0, low: 0.2, medium: 0.5, high: 0.8, xhigh: 0.95 };

/** The least that there is. */
const MIN_BUDGET = 1024;

export type Thinking =
  | { readonly type: 'disabled' }
  | { readonly type: 'enabled'; readonly budget_tokens: number; readonly display?: 'summarized' };

/**
 * `limit`: tokens of the whole answer. Null: nothing is said of it, since the client says nothing, or the request has no
 * place for thinking (docs/decisions.md#ai-thinking).
 */
export function thinkingOf(conversation: Conversation, limit: number): Thinking | null {
  const { effort, showsThinking } = conversation;
  if (effort === null) return null;
  if (SHARES[effort] === 0) return { type: 'disabled' };
  if (limit <= MIN_BUDGET || forcesCall(conversation) || answersCall(conversation)) return null;
  const budget = Math.max(MIN_BUDGET, Math.floor(limit * SHARES[effort]));
  return { type: 'enabled', budget_tokens: budget, ...(showsThinking ? { display: 'summarized' } : {}) };
}

/** A model that has to call a tool does not think there. */
function forcesCall({ toolChoice, tools }: Conversation): boolean {
  return tools.length > 0 && toolChoice !== null && toolChoice !== 'auto' && toolChoice !== 'none';
}

/** A turn that goes on with results of tools has to begin with what was thought before them, which clients do not have. */
function answersCall({ turns }: Conversation): boolean {
  const last = turns.findLastIndex(({ role }) => role === 'assistant');
  return turns.slice(last + 1).some(({ role }) => role === 'tool');
}
