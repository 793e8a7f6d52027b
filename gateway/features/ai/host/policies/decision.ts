import type { Answer } from '../../../kit.ts';
import type { AiRefused } from '../proxy/conversation/refusal.ts';

/** A policy's decision on a request: a refusal or an answer; null: it goes on. */
export type Decision = AiRefused | Answer | null;
