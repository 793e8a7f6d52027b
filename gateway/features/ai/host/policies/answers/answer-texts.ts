/** The texts of a model in answers of all surfaces: whole ones, and their repetitions in streams. */

import { get, isObject, isWrittenNumber, type Steps } from '../../../../kit.ts';
import { type TextPlace, visitTexts } from '../../proxy/request/json-texts.ts';

export type Rewrite = (text: string, isJson: boolean) => Steps<string>;

type Members = Record<string, unknown>;

/** Members below which `logprobs` stand, which have a text a second time. */
const AROUND_LOGPROBS = ['choices', 'content', 'output', 'item', 'part', 'response', 'message', 'delta'];

/**
 * Rewrites the texts of a whole answer in place: of a completion, a response, a message, an event, or a part of one.
 * Returns whether something has changed.
 */
export function* rewriteTexts(value: unknown, rewrite: Rewrite): Steps<boolean> {
  if (!Array.isArray(value) && !isMembers(value)) return false;
  let isChanged = dropLogprobs(value);
  const places: TextPlace[] = [];
  const text = (place: TextPlace) => places.push(place);
  yield* visitTexts(value, { text, input: text });
  for (const place of places) {
    const rewritten = yield* rewrite(place.text, place.isJson);
    yield;
    if (rewritten === place.text) continue;
    place.replace(rewritten);
    isChanged = true;
  }
  return isChanged;
}

/** Returns whether there were any. */
export function dropLogprobs(value: unknown): boolean {
  if (Array.isArray(value)) return value.map(dropLogprobs).includes(true);
  if (!isMembers(value)) return false;
  const logprobs = get(value, 'logprobs');
  const isThere = Boolean(logprobs) && !(Array.isArray(logprobs) && logprobs.length === 0);
  if (isThere) value['logprobs'] = Array.isArray(logprobs) ? [] : null;
  const within = AROUND_LOGPROBS.filter((name) => typeof get(value, name) === 'object');
  return within.map((name) => dropLogprobs(value[name])).includes(true) || isThere;
}

export function isMembers(value: unknown): value is Members {
  return isObject(value) && !isWrittenNumber(value);
}
