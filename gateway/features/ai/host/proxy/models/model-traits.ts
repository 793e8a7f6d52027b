/** Traits by which models of one protocol differ in the requests that they accept (docs/decisions.md#ai-models). */
import type { Effort } from '../conversation/effort.ts';

export const LIMITS = ['max_completion_tokens', 'max_tokens'] as const;
export const THINKING = ['adaptive', 'budget', 'none'] as const;
export const THINKING_OFF = ['disabled', 'between_tools', 'omitted', 'never'] as const;

export interface ModelTraits {
  /** Member of a chat completion that limits its tokens. */
  readonly limit: (typeof LIMITS)[number];
  /** Efforts that it takes; empty if it takes no such member. */
  readonly efforts: readonly Effort[];
  /** Chat completions with tools may name an effort other than `none`. */
  readonly effortWithTools: boolean;
  /** How a request for a message asks for thinking: adaptive with an effort, by a budget of tokens, or not at all. */
  readonly thinking: (typeof THINKING)[number];
  /** How thinking is turned off: by that type of `thinking`, by leaving it out, or never. */
  readonly thinkingOff: (typeof THINKING_OFF)[number];
  /** Requests for messages may have `temperature` and `top_p`. */
  readonly sampling: boolean;
  /** Requests for messages may force the call of a tool. */
  readonly forcedTools: boolean;
}

/**
 * Traits of undocumented models: requests have the form of the newest ones, and parameters that an older model may
 * accept are passed on.
 */
export const NEWEST: ModelTraits = {
  limit: 'max_completion_tokens',
  efforts: ['low', 'medium', 'high', 'xhigh', 'max'],
  effortWithTools: true,
  thinking: 'adaptive',
  thinkingOff: 'never',
  sampling: false,
  forcedTools: true,
};

/** Servers of one's own often know neither. */
export const LOCAL: ModelTraits = { ...NEWEST, limit: 'max_tokens', efforts: [] };
