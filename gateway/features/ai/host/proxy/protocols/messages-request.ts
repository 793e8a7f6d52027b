/** Writes a conversation as a request for a message. */

import { plainNumber } from '../../../../kit.ts';
import type { Cached, Conversation, Part, Source, TextPart, Tool, Turn } from '../conversation/conversation.ts';
import type { Effort } from '../conversation/effort.ts';
import { shorten } from '../conversation/end-user.ts';
import { refusal, unsupported } from '../conversation/refusal.ts';
import type { ModelTraits } from '../models/model-traits.ts';
import { forcesCall, type ThinkingMember, thinkingOf } from './thinking.ts';

type Json = Readonly<Record<string, unknown>>;

/**
 * `maxTokens`: the config's limit, for requests without one. Throws AiRefusal if both are missing, and for parts that
 * the model does not take.
 */
export function messageRequest(conversation: Conversation, maxTokens: number | null, traits: ModelTraits): Json {
  const { model, stream, tools, stop, user } = conversation;
  const limit = conversation.maxTokens ?? maxTokens;
  if (limit === null) throw noLimit();
  if (!traits.forcedTools && forcesCall(conversation))
    throw unsupported('tool_choice', 'a tool_choice that forces a call');
  const { thinking, effort } = thinkingOf(conversation, limit, traits);
  const stops = stop.filter((each) => each.trim() !== '');
  return {
    model,
    max_tokens: limit,
    ...cacheControl(conversation),
    ...systemOf(conversation),
    messages: messagesOf(conversation.turns),
    ...(stream ? { stream } : {}),
    ...(tools.length === 0 ? {} : { tools: tools.map(toolOf), ...choiceOf(conversation) }),
    ...(thinking === null ? {} : { thinking }),
    ...(traits.sampling && !thinks(thinking) ? samplingOf(conversation) : {}),
    ...(stops.length === 0 ? {} : { stop_sequences: stops }),
    ...(user === null ? {} : { metadata: { user_id: shorten(user, MOST_USER) } }),
    ...outputOf(conversation, effort),
  };
}

function outputOf({ format }: Conversation, effort: Effort | null): Json {
  const output = {
    ...(effort === null ? {} : { effort }),
    ...(format?.type === 'schema' ? { format: { type: 'json_schema', schema: format.schema } } : {}),
  };
  return Object.keys(output).length === 0 ? {} : { output_config: output };
}

/** A model that thinks takes neither temperature nor top_p. */
function thinks(thinking: ThinkingMember | null): boolean {
  return thinking?.type === 'enabled' || thinking?.type === 'adaptive';
}

function samplingOf({ temperature, topP }: Conversation): Json {
  return {
    // There it ends at 1.
    ...(temperature === null ? {} : { temperature: Number(plainNumber(temperature)) > 1 ? 1 : temperature }),
    ...(topP === null ? {} : { top_p: topP }),
  };
}

function noLimit() {
  const detail = 'The provider of this model needs max_tokens: send it, or set it in the config of the gateway.';
  return refusal('validation-failed', 'max_tokens_required', detail, { param: 'max_tokens' });
}

/** Characters of a user's id there. */
const MOST_USER = 256;

const JSON_ONLY = 'Answer with one JSON object and nothing else: no explanation, and no code fence.';

function systemOf({ instructions, format }: Conversation): Json {
  const jsonOnly: readonly TextPart[] = format?.type === 'json' ? [{ type: 'text', text: JSON_ONLY }] : [];
  const texts = [...instructions, ...jsonOnly].filter(({ text }) => text !== '');
  if (texts.some(({ cache }) => cache !== undefined)) return { system: textBlocks(texts) };
  return texts.length === 0 ? {} : { system: texts.map(({ text }) => text).join('\n\n') };
}

/** `cache_control` has the same form on all that has it. */
function cacheControl({ cache }: Cached): Json {
  return cache === undefined ? {} : { cache_control: cache };
}

interface Wire {
  readonly role: 'user' | 'assistant';
  readonly content: readonly Json[];
}

/** Roles alternate: consecutive turns of one side are one message, and results of tools belong to the user. */
function messagesOf(turns: readonly Turn[]): readonly Wire[] {
  const messages: Wire[] = [];
  for (const turn of turns) {
    const message = messageOf(turn);
    const last = messages.at(-1);
    if (message.content.length === 0) continue;
    if (last?.role !== message.role) messages.push(message);
    else messages[messages.length - 1] = { ...last, content: [...last.content, ...message.content] };
  }
  return messages;
}

function messageOf(turn: Turn): Wire {
  switch (turn.role) {
    case 'user':
      return { role: 'user', content: blocksOf(turn.parts) };
    case 'system':
      return { role: 'user', content: textBlocks(turn.text) };
    case 'tool':
      return {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: idOf(turn.callId),
            content: blocksOf(turn.parts),
            ...cacheControl(turn),
          },
        ],
      };
    case 'assistant': {
      const calls = turn.calls.map(({ id, name, input, ...rest }) => {
        return { type: 'tool_use', id: idOf(id), name, input, ...cacheControl(rest) };
      });
      return { role: 'assistant', content: [...textBlocks(turn.text), ...calls] };
    }
  }
}

/** Other characters are refused there; a call and its result change alike. */
function idOf(id: string): string {
  return id.replace(/[^a-zA-Z0-9_-]/g, '_');
}

/** Empty text is refused there. */
function textBlocks(texts: readonly TextPart[]): readonly Json[] {
  return texts
    .filter(({ text }) => text !== '')
    .map(({ text, ...rest }) => ({ type: 'text', text, ...cacheControl(rest) }));
}

function blocksOf(parts: readonly Part[]): readonly Json[] {
  return parts.flatMap((part) => {
    if (part.type === 'text') return textBlocks([part]);
    const source = sourceOf(part.source);
    if (part.type === 'image') return [{ type: 'image', source, ...cacheControl(part) }];
    return [{ type: 'document', source, ...(part.name === null ? {} : { title: part.name }), ...cacheControl(part) }];
  });
}

function sourceOf(source: Source): Json {
  if (source.kind === 'url') return { type: 'url', url: source.url };
  return { type: 'base64', media_type: source.mediaType, data: source.data };
}

function toolOf({ name, description, schema, strict, ...rest }: Tool): Json {
  return {
    name,
    ...(description === null ? {} : { description }),
    input_schema: { type: 'object', ...(schema ?? { properties: {} }) },
    ...(strict ? { strict } : {}),
    ...cacheControl(rest),
  };
}

function choiceOf({ toolChoice, parallelCalls }: Conversation): Json {
  if (toolChoice === null && parallelCalls) return {};
  const alone = parallelCalls ? {} : { disable_parallel_tool_use: true };
  switch (toolChoice) {
    case 'none':
      return { tool_choice: { type: 'none' } };
    case 'auto':
    case null:
      return { tool_choice: { type: 'auto', ...alone } };
    case 'required':
      return { tool_choice: { type: 'any', ...alone } };
    default:
      return { tool_choice: { type: 'tool', name: toolChoice.name, ...alone } };
  }
}
