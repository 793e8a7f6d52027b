/** Puts messages of the config around those of a request, in the protocol of its surface. */

import { get, isObject, type Obj } from '../../../../kit.ts';
import { invalid } from '../../proxy/conversation/refusal.ts';
import type { AddedMessage } from './template.ts';

/** Surfaces on which there is a conversation. */
export type ConversationSurface = 'chat' | 'responses' | 'messages';

export interface Additions {
  readonly prepend: readonly AddedMessage[];
  /** In the place of the client's messages; null: those stay. */
  readonly filled: readonly AddedMessage[] | null;
  readonly append: readonly AddedMessage[];
}

/** The member that has the messages. */
export function memberOf(surface: ConversationSurface): 'messages' | 'input' {
  return surface === 'responses' ? 'input' : 'messages';
}

/** Throws AiRefusal if the request has no messages to put something around. */
export function insertMessages(request: Obj, surface: ConversationSurface, additions: Additions): Obj {
  return surface === 'messages' ? asMessages(request, additions) : asList(request, memberOf(surface), additions);
}

/** Every role is that of a message. */
function asList(request: Obj, member: string, { prepend, filled, append }: Additions): Obj {
  const own = filled ?? messagesIn(request, member);
  return { ...request, [member]: [...prepend, ...own, ...append] };
}

/** The system prompt stands outside the messages; adjacent messages of one role are joined. */
function asMessages(request: Obj, { prepend, filled, append }: Additions): Obj {
  const own = filled === null ? messagesIn(request, 'messages') : spokenOf(filled);
  const messages = [...spokenOf(prepend), ...own, ...spokenOf(append)].reduce<unknown[]>(appendMessage, []);
  const before = systemOf(prepend);
  const after = [...systemOf(filled ?? []), ...systemOf(append)];
  if (before.length + after.length === 0) return { ...request, messages };
  return { ...request, messages, system: [...before, ...blocksOf(get(request, 'system'), 'system'), ...after] };
}

function messagesIn(request: Obj, member: string): readonly unknown[] {
  const list = get(request, member);
  if (Array.isArray(list)) return list;
  if (member === 'messages') throw invalid(member, 'a list of messages');
  if (typeof list === 'string') return [{ role: 'user', content: list }];
  if ((list ?? null) !== null) throw invalid(member, 'a string or a list of items');
  return [];
}

const isSystem = ({ role }: AddedMessage) => role === 'system';
const spokenOf = (messages: readonly AddedMessage[]) => messages.filter((each) => !isSystem(each));
const systemOf = (messages: readonly AddedMessage[]) =>
  messages.filter(isSystem).map(({ content }) => ({ type: 'text', text: content }));

/** A text, or a list of blocks, as blocks. Providers refuse one without text. */
function blocksOf(content: unknown, param: string): readonly unknown[] {
  if (Array.isArray(content)) return content;
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  if ((content ?? null) !== null) throw invalid(param, 'a string or a list of blocks');
  return [];
}

function appendMessage(messages: unknown[], message: unknown): unknown[] {
  const last = messages.at(-1);
  if (!isObject(last) || !isObject(message) || get(last, 'role') !== get(message, 'role')) {
    messages.push(message);
    return messages;
  }
  const content = [last, message].flatMap((each) => blocksOf(get(each, 'content'), 'messages.content'));
  messages[messages.length - 1] = { ...last, content };
  return messages;
}
