/** Whether an answer says itself that it is all there: what a guard has cut, or a provider, is not stored. */
import { EventParser } from '../../../server-sent-events.ts';
import { get } from '../../../spec/json.ts';
import type { Question } from './question.ts';

/** The last event of a stream. Those of a response can also be its failure. */
const ENDS: Readonly<Record<Question['surface'], (data: string) => boolean>> = {
  chat: (data) => data === '[DONE]',
  messages: (data) => get(jsonOf(data), 'type') === 'message_stop',
  responses: (data) => get(jsonOf(data), 'type') === 'response.completed',
  embeddings: () => false,
};

export function isWholeAnswer({ surface, isStream }: Question, body: Uint8Array): boolean {
  const text = Buffer.from(body).toString();
  if (isStream) return ENDS[surface](lastData(text));
  return surface !== 'responses' || get(jsonOf(text), 'status') === 'completed';
}

function lastData(text: string): string {
  const events = new EventParser(text.length).push(text);
  return events.findLast(({ data }) => data !== null)?.data ?? '';
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
