import type { Answer } from '../../../kit.ts';
import type { AiRefusal } from '../proxy/conversation/refusal.ts';

/** A policy's decision on a request: a refusal or an answer; null: it goes on. */
export type Decision = AiRefusal | Answer | null;
