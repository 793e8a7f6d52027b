/** Writes a conversation as a request for a chat completion. */

import type { Obj } from '../../../../kit.ts';
import type {
  Conversation,
  Part,
  Source,
  TextPart,
  Tool,
  ToolCall,
  ToolChoice,
  Turn,
} from '../conversation/conversation.ts';
import { type Effort, fitEffort } from '../conversation/effort.ts';
import { shorten } from '../conversation/end-user.ts';
import { unsupported } from '../conversation/refusal.ts';
import type { ModelTraits } from '../models/model-traits.ts';

type Json = Readonly<Record<string, unknown>>;

export interface ChatRequestOptions {
  /** The config's limit, for requests without one. */
  readonly maxTokens: number | null;
  readonly traits: ModelTraits;
  /** The provider is asked to count the tokens of a stream. */
  readonly countsStream: boolean;
}

/** Throws AiRefusal for parts that a chat completion cannot express. */
export function chatRequest(conversation: Conversation, options: ChatRequestOptions): Json {
  const { model, stream, tools, stop, user, temperature, topP, format } = conversation;
  const effort = effortOf(conversation, options.traits);
  const limit = conversation.maxTokens ?? options.maxTokens;
  return {
    model,
    ...(limit === null ? {} : { [options.traits.limit]: limit }),
    messages: [...systemOf(conversation), ...withPictures(conversation.turns).map(messageOf)],
    ...(stream ? { stream, ...(options.countsStream ? { stream_options: { include_usage: true } } : {}) } : {}),
    ...(tools.length === 0 ? {} : { tools: tools.map(toolOf), ...choiceOf(conversation) }),
    ...(temperature === null ? {} : { temperature }),
    ...(topP === null ? {} : { top_p: topP }),
    ...(stop.length === 0 ? {} : { stop }),
    ...(user === null ? {} : { user: shorten(user, MOST_USER) }),
    ...(format?.type === 'schema'
      ? { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: format.schema } } }
      : {}),
    ...(effort === null ? {} : { reasoning_effort: effort }),
  };
}

/** Returns null for the provider's default, also if the model takes no effort. */
function effortOf({ effort, tools }: Conversation, { efforts, effortWithTools }: ModelTraits): Effort | null {
  if (efforts.length === 0) return null;
  if (tools.length > 0 && !effortWithTools) return 'none';
  // A request without thinking is not raised to the lowest effort.
  if (effort === 'none' && !efforts.includes(effort)) return null;
  return effort === null ? null : fitEffort(effort, efforts);
}

/** The client has asked for an effort that the model cannot be asked for. */
export function dropsEffort(conversation: Conversation, traits: ModelTraits): boolean {
  const { effort } = conversation;
  return effort !== null && effort !== 'none' && (effortOf(conversation, traits) ?? 'none') === 'none';
}

function systemOf({ instructions }: Conversation): readonly Json[] {
  const text = textsOf(instructions)
    .filter((each) => each !== '')
    .join('\n\n');
  return text === '' ? [] : [{ role: 'system', content: text }];
}

const textsOf = (parts: readonly TextPart[]) => parts.map(({ text }) => text);

/** Characters of a user's id there. */
const MOST_USER = 64;

type ToolTurn = Extract<Turn, { role: 'tool' }>;

/** Results of tools are text there: their pictures and documents are said by the user, behind the results of one turn. */
function withPictures(turns: readonly Turn[]): readonly Turn[] {
  const written: Turn[] = [];
  let files: Part[] = [];
  for (const turn of turns) {
    if (turn.role !== 'tool' && files.length > 0) {
      const parts = turn.role === 'user' ? [...files, ...turn.parts] : files;
      files = [];
      written.push({ role: 'user', parts });
      if (turn.role === 'user') continue;
    }
    written.push(turn);
    if (turn.role === 'tool') files.push(...filesOf(turn));
  }
  return files.length === 0 ? written : [...written, { role: 'user', parts: files }];
}

function filesOf({ callId, parts }: ToolTurn): readonly Part[] {
  const files = parts.filter(({ type }) => type !== 'text');
  return files.length === 0 ? [] : [{ type: 'text', text: `Of the result of the call ${callId}:` }, ...files];
}

function messageOf(turn: Turn): Json {
  switch (turn.role) {
    case 'system':
      return { role: 'system', content: textsOf(turn.text).join('\n\n') };
    case 'user':
      return { role: 'user', content: contentOf(turn.parts) };
    case 'tool':
      return { role: 'tool', tool_call_id: turn.callId, content: turn.parts.map(resultText).join('') };
    case 'assistant': {
      const calls = turn.calls.map(callOf);
      const text = textsOf(turn.text).join('');
      return {
        role: 'assistant',
        content: text === '' && calls.length > 0 ? null : text,
        ...(calls.length === 0 ? {} : { tool_calls: calls }),
      };
    }
  }
}

function resultText(part: Part): string {
  return part.type === 'text' ? part.text : `[${part.type}: in the next message of the user]`;
}

/** One text is a string, as servers of one's own often want it. */
function contentOf(parts: readonly Part[]): string | readonly Json[] {
  const [first, ...others] = parts;
  if (first === undefined) return '';
  return first.type === 'text' && others.length === 0 ? first.text : parts.map(partOf);
}

function partOf(part: Part): Json {
  if (part.type === 'text') return { type: 'text', text: part.text };
  if (part.type === 'image') return { type: 'image_url', image_url: { url: urlOf(part.source) } };
  if (part.source.kind === 'url') throw unsupported('messages', 'documents by URL: send their data');
  return { type: 'file', file: { filename: part.name ?? 'document', file_data: urlOf(part.source) } };
}

function urlOf(source: Source): string {
  return source.kind === 'url' ? source.url : `data:${source.mediaType};base64,${source.data}`;
}

function callOf({ id, name, input }: ToolCall): Json {
  return { id, type: 'function', function: { name, arguments: JSON.stringify(input) } };
}

/** Providers of chat completions refuse an object that has no `properties`, which Anthropic takes. */
function withProperties(schema: Obj): Obj {
  return schema['type'] === 'object' && !('properties' in schema) ? { ...schema, properties: {} } : schema;
}

function toolOf({ name, description, schema, strict }: Tool): Json {
  const described = {
    name,
    ...(description === null ? {} : { description }),
    ...(schema === null ? {} : { parameters: withProperties(schema) }),
    ...(strict ? { strict } : {}),
  };
  return { type: 'function', function: described };
}

function choiceOf({ toolChoice, parallelCalls }: Conversation): Json {
  return {
    ...(toolChoice === null ? {} : { tool_choice: named(toolChoice) }),
    ...(parallelCalls ? {} : { parallel_tool_calls: false }),
  };
}

function named(choice: ToolChoice): unknown {
  return typeof choice === 'string' ? choice : { type: 'function', function: { name: choice.name } };
}
