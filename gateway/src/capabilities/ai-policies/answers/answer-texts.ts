/** Where the texts of a model stand in answers of all surfaces: whole ones, and what streams repeat of them. */
import { get, isObject } from '../../../spec/json.ts';

export type Rewrite = (text: string, isJson: boolean) => string;

type Members = Record<string, unknown>;

/** Texts that a part, a message or an item has itself. */
const TEXTS = ['text', 'content', 'refusal', 'reasoning', 'reasoning_content', 'thinking', 'output_text'];
/** What has others in it. */
const WITHIN = ['content', 'output', 'summary', 'choices', 'message', 'tool_calls', 'function', 'function_call'];

/** Rewrites the texts of a whole answer in place: of a completion, a response, a message, or a part of one. */
export function rewriteTexts(value: unknown, rewrite: Rewrite): void {
  if (Array.isArray(value)) for (const each of value) rewriteTexts(each, rewrite);
  if (!isMembers(value)) return;
  for (const name of TEXTS) rewriteMember(value, name, rewrite, false);
  rewriteMember(value, 'arguments', rewrite, true);
  // They have the text a second time.
  if (get(value, 'logprobs')) value['logprobs'] = Array.isArray(value['logprobs']) ? [] : null;
  if (get(value, 'type') === 'tool_use' && isObject(value['input']))
    value['input'] = rewriteAll(value['input'], rewrite);
  for (const name of WITHIN) if (typeof get(value, name) === 'object') rewriteTexts(value[name], rewrite);
}

function rewriteMember(value: Members, name: string, rewrite: Rewrite, isJson: boolean): void {
  const text = get(value, name);
  if (typeof text === 'string' && text !== '') value[name] = rewrite(text, isJson);
}

/** The input of a call is any JSON: as its text, which stays JSON. */
function rewriteAll(input: unknown, rewrite: Rewrite): unknown {
  const text = JSON.stringify(input);
  const rewritten = rewrite(text, true);
  if (rewritten === text) return input;
  const value: unknown = JSON.parse(rewritten);
  return value;
}

export function isMembers(value: unknown): value is Members {
  return isObject(value);
}
