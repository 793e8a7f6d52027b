/** An answer of any surface with its texts rewritten: in memory, or on its way to the client. */

import {
  type Exchange,
  headerOf,
  isNestedWithin,
  isQuickJson,
  isWrittenNumber,
  MOST_NESTING,
  parseAsWritten,
  type ResponseSink,
  repeatsName,
  type Steps,
} from '../../../../kit.ts';
import { AnswerBlocked } from './answer-rules.ts';
import { rewriteTexts } from './answer-texts.ts';
import { eventsTap, GuardedStream, jsonTap } from './guarded-body.ts';
import type { Guarding } from './guarded-events.ts';

export type AnswerForm = 'events' | 'json';
/** Puts itself before the sink of a body. */
export type AnswerSink = (sink: ResponseSink) => ResponseSink;

const EVENTS = /^text\/event-stream\s*(;|$)/i;
const BYTE_ORDER_MARK = '\ufeff';
const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(;|$)/i;

/** Returns null if it is not an answer of a model: an error, or another type. */
export function formOf({ response: { status, headers } }: Exchange): AnswerForm | null {
  const type = headerOf(headers, 'content-type') ?? '';
  if (status >= 300) return null;
  if (EVENTS.test(type)) return 'events';
  return JSON_TYPE.test(type) ? 'json' : null;
}

/** Rewrites an answer in memory. `blocked`: a stream ends, with an error event. Throws AnswerBlocked for JSON. */
export function* rewriteWhole(
  exchange: Exchange,
  form: AnswerForm,
  guarding: Guarding,
  blocked: (why: string) => void,
): Steps<void> {
  const text = textOf(exchange);
  if (form === 'json') {
    if (exchange.response.body !== null) exchange.response.body = yield* rewrite(text, guarding);
    return;
  }
  const stream = new GuardedStream(guarding, blocked);
  exchange.response.body = (yield* stream.push(text)) + (yield* stream.end());
}

/** Rewrites an answer that streams. */
export function rewritingTap(
  exchange: Exchange,
  form: AnswerForm,
  guarding: Guarding,
  blocked: (why: string) => void,
): AnswerSink {
  return (sink) => {
    if (form === 'events') return eventsTap(exchange, new GuardedStream(guarding, blocked), sink);
    return jsonTap(exchange, (body) => rewrite(body.toString(), guarding), sink);
  };
}

function textOf({ response: { body } }: Exchange): string {
  if (typeof body === 'string') return body;
  return body === null ? '' : Buffer.from(body).toString();
}

/** Treats malformed JSON as text, whatever its type says. Unchanged texts keep their bytes. Throws AnswerBlocked. */
function* rewrite(text: string, guarding: Guarding): Steps<string> {
  if (!isQuickJson(Buffer.from(text))) throw new AnswerBlocked('it takes too long to be checked');
  const json = text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text;
  let value: unknown;
  try {
    value = parseAsWritten(json);
  } catch {
    return yield* guarding.whole(text, false);
  }
  if (typeof value !== 'object' || value === null || isWrittenNumber(value)) return yield* guarding.whole(text, true);
  const bytes = Buffer.from(json);
  if (!isNestedWithin(bytes, MOST_NESTING)) throw new AnswerBlocked('it is nested too deep to be checked');
  const repeats = repeatsName(bytes);
  return (yield* rewriteTexts(value, guarding.whole)) || repeats ? JSON.stringify(value) : json;
}
