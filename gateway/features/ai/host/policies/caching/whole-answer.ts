/**
 * Decides whether an answer is whole and not a failure, by its own members: answers cut by a guard or a provider are
 * not stored.
 */

import { EventParser, get, jsonText } from '../../../../kit.ts';
import type { Question } from './question.ts';

type Surface = Question['surface'];

/** Tests for a whole answer, which must not be an error either. */
const WHOLE: Readonly<Record<Surface, (value: unknown) => boolean>> = {
  chat: (value) => choicesOf(value).length > 0 && choicesOf(value).every(isFinished),
  messages: (value) => typeof get(value, 'stop_reason') === 'string',
  responses: (value) => get(value, 'status') === 'completed',
  embeddings: (value) => Array.isArray(get(value, 'data')),
};

/** The event without which a stream is not whole. Streams of embeddings do not exist. */
const ENDS: Readonly<Record<Surface, (event: unknown) => boolean>> = {
  chat: (event) => choicesOf(event).some(isFinished),
  messages: (event) => get(event, 'type') === 'message_stop',
  responses: (event) => get(event, 'type') === 'response.completed',
  embeddings: () => false,
};

/** Events that may end a stream, or report a failure: others need no parsing. */
const TELLING = /"error"|"finish_reason"\s*:\s*"|"message_stop"|"response\.completed"/;

/** An answer that ai-proxy takes for whole can still be one that a guard has cut. */
export function isWholeAnswer({ surface, isStream }: Question, body: Uint8Array): boolean {
  const text = jsonText(body);
  if (isStream) return isWholeStream(surface, text);
  const value = jsonOf(text);
  return !isFailure(value) && WHOLE[surface](value);
}

function isWholeStream(surface: Surface, text: string): boolean {
  // Some clients accept an event without its blank line, so it is read as well.
  const events = new EventParser(text.length + ENDING.length).push(text + ENDING);
  const told = events.flatMap(({ data }) => (data !== null && TELLING.test(data) ? [jsonOf(data)] : []));
  return !told.some(isFailure) && told.some(ENDS[surface]);
}

const ENDING = '\n\n';

function isFailure(value: unknown): boolean {
  return Boolean(get(value, 'error')) || get(value, 'type') === 'error';
}

function choicesOf(value: unknown): readonly unknown[] {
  const choices = get(value, 'choices');
  return Array.isArray(choices) ? choices : [];
}

/** Some providers report `error` for a failed choice. */
function isFinished(choice: unknown): boolean {
  const reason = get(choice, 'finish_reason');
  return typeof reason === 'string' && reason !== '' && reason !== 'error' && !get(choice, 'error');
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
