import type { Answer } from '../../exchange.ts';
import type { AiRefused } from '../ai/conversation/refusal.ts';

/** What the request gets of a policy: why it is refused, or an answer; null: it goes on. */
export type Decision = AiRefused | Answer | null;
