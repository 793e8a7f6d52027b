/** How a request for a message says how much the model thinks, in the form that the model takes. */
import type { Conversation } from '../conversation/conversation.ts';
import { type Effort, fitEffort } from '../conversation/effort.ts';
import type { ModelTraits } from '../models/model-traits.ts';

/** The share of the answer's tokens for thinking, by effort, if thinking has a budget. */
const SHARES: Readonly<Record<Effort, number>> = {
  ...{ none: 0, minimal: 0, low: 0.2, medium: 0.5, high: 0.8, xhigh: 0.95, max: 0.95 },
};

/** The least budget that providers accept. */
const MIN_BUDGET = 1024;

export type ThinkingMember =
  | { readonly type: 'disabled' | 'between_tools' }
  | { readonly type: 'adaptive'; readonly display?: 'summarized' }
  | { readonly type: 'enabled'; readonly budget_tokens: number; readonly display?: 'summarized' };

/** Null: the member is left out. */
export interface Thinking {
  readonly thinking: ThinkingMember | null;
  /** `output_config.effort` */
  readonly effort: Effort | null;
}

const UNSAID: Thinking = { thinking: null, effort: null };

/**
 * `limit`: tokens of the whole answer. The member is left out if the client leaves it out, or the request has no place
 * for thinking (docs/decisions.md#ai-thinking).
 */
export function thinkingOf(conversation: Conversation, limit: number, traits: ModelTraits): Thinking {
  if (traits.thinking === 'none') return UNSAID;
  return traits.thinking === 'budget' ? budgeted(conversation, limit, traits) : adaptive(conversation, traits);
}

function adaptive(conversation: Conversation, traits: ModelTraits): Thinking {
  const { effort: wanted, showsThinking } = conversation;
  if (wanted === 'none') return off(traits);
  const effort = wanted === null ? null : fitEffort(wanted, traits.efforts);
  const isAsked = wanted !== null || showsThinking;
  if (!isAsked || forcesCall(conversation)) return { thinking: null, effort };
  return { thinking: { type: 'adaptive', ...displayOf(conversation) }, effort };
}

function off({ thinkingOff, efforts }: ModelTraits): Thinking {
  if (thinkingOff === 'never') return { thinking: null, effort: fitEffort('none', efforts) };
  return { thinking: thinkingOff === 'omitted' ? null : { type: thinkingOff }, effort: null };
}

function budgeted(conversation: Conversation, limit: number, traits: ModelTraits): Thinking {
  const { effort } = conversation;
  if (effort === null) return UNSAID;
  if (SHARES[effort] === 0) return off(traits);
  if (limit <= MIN_BUDGET || forcesCall(conversation) || answersCall(conversation)) return UNSAID;
  const budget = Math.max(MIN_BUDGET, Math.floor(limit * SHARES[effort]));
  return { thinking: { type: 'enabled', budget_tokens: budget, ...displayOf(conversation) }, effort: null };
}

function displayOf({ showsThinking }: Conversation): { readonly display?: 'summarized' } {
  return showsThinking ? { display: 'summarized' } : {};
}

/** A model that has to call a tool does not think there. */
export function forcesCall({ toolChoice, tools }: Conversation): boolean {
  return tools.length > 0 && toolChoice !== null && toolChoice !== 'auto' && toolChoice !== 'none';
}

/**
 * With a budget, a turn that goes on with results of tools has to begin with the thinking before them, which clients do
 * not have.
 */
function answersCall({ turns }: Conversation): boolean {
  const last = turns.findLastIndex(({ role }) => role === 'assistant');
  return turns.slice(last + 1).some(({ role }) => role === 'tool');
}
