/** The user's last text, apart from the rest of the question: texts with the same meaning match it. */

import { get, isObject, type Obj } from '../../../../kit.ts';
import type { Question } from './question.ts';

export interface LastUserMessage {
  readonly text: string;
  /** The request without it. */
  readonly rest: Obj;
}

/** Characters; models of embeddings take some 8000 tokens. */
const MOST_TEXT = 16_384;
const LISTS: Readonly<Record<Question['surface'], string | null>> = {
  chat: 'messages',
  messages: 'messages',
  responses: 'input',
  embeddings: null,
};

/** Returns null if the last message is not the user's, or is not of text alone. */
export function lastUserMessage({ surface, request }: Question): LastUserMessage | null {
  const member = LISTS[surface];
  const messages = member === null ? undefined : get(request, member);
  if (member === null || messages === undefined) return null;
  if (!Array.isArray(messages))
    return surface === 'responses' ? splitText(messages, { ...request, [member]: null }) : null;
  const last: unknown = messages.at(-1);
  if (!isObject(last) || get(last, 'role') !== 'user') return null;
  return splitText(get(last, 'content'), {
    ...request,
    [member]: [...messages.slice(0, -1), { ...last, content: null }],
  });
}

function splitText(content: unknown, rest: Obj): LastUserMessage | null {
  const text = typeof content === 'string' ? content : textOfParts(content);
  return text === null || text.trim() === '' || text.length > MOST_TEXT ? null : { text, rest };
}

function textOfParts(content: unknown): string | null {
  if (!Array.isArray(content)) return null;
  const texts = content.map((part) => (isText(part) ? get(part, 'text') : null));
  return texts.every((text) => typeof text === 'string') ? texts.join('\n') : null;
}

function isText(part: unknown): boolean {
  const type = get(part, 'type');
  return type === 'text' || type === 'input_text';
}
