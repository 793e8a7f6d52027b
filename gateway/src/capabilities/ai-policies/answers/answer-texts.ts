/** The texts of a model in answers of all surfaces: whole ones, and what streams repeat of them. */
import { get, isObject } from '../../../spec/json.ts';
import { visitTexts } from '../../ai/request/json-texts.ts';

export type Rewrite = (text: string, isJson: boolean) => string;

type Members = Record<string, unknown>;

/** Members below which `logprobs` stand, which have a text a second time. */
const AROUND_LOGPROBS = ['choices', 'content', 'output', 'item', 'part', 'response', 'message', 'delta'];

/** Rewrites the texts of a whole answer in place: of a completion, a response, a message, an event, or a part of one. */
export function rewriteTexts(value: unknown, rewrite: Rewrite): void {
  if (!Array.isArray(value) && !isMembers(value)) return;
  dropLogprobs(value);
  const text = (place: { text: string; isJson: boolean; replace(text: string): void }) => {
    const rewritten = rewrite(place.text, place.isJson);
    if (rewritten !== place.text) place.replace(rewritten);
  };
  visitTexts(value, { text, input: text });
}

export function dropLogprobs(value: unknown): void {
  if (Array.isArray(value)) for (const each of value) dropLogprobs(each);
  if (!isMembers(value)) return;
  if (get(value, 'logprobs')) value['logprobs'] = Array.isArray(value['logprobs']) ? [] : null;
  for (const name of AROUND_LOGPROBS) if (typeof get(value, name) === 'object') dropLogprobs(value[name]);
}

export function isMembers(value: unknown): value is Members {
  return isObject(value);
}
