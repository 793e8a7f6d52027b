/** Reads the body of a request for a message. */
import { cacheOf } from '../conversation/cache-marks.ts';
import type {
  Conversation,
  Format,
  Part,
  Source,
  TextPart,
  Tool,
  ToolCall,
  ToolChoice,
  Turn,
} from '../conversation/conversation.ts';
import { type Effort, readEffort } from '../conversation/effort.ts';
import { Members } from '../conversation/json-reader.ts';
import { invalid, unsupported } from '../conversation/refusal.ts';
import { registeredType } from './parts.ts';

/** Throws AiRefusal if the request is not valid, or a conversation cannot express it. */
export function readMessagesRequest(body: unknown): Conversation {
  const request = new Members(body, '');
  for (const name of ['mcp_servers', 'container']) {
    if (request.has(name)) throw unsupported(name, name);
  }
  const choice = request.member('tool_choice');
  return {
    model: request.requiredText('model'),
    stream: request.flag('stream') === true,
    ...cacheOf(request),
    instructions: textsOf(request, 'system'),
    turns: request.each('messages').flatMap(turnsOf),
    tools: request.each('tools').map(toolOf),
    toolChoice: choice === null ? null : choiceOf(choice),
    parallelCalls: choice?.flag('disable_parallel_tool_use') !== true,
    maxTokens: request.count('max_tokens'),
    temperature: request.number('temperature'),
    topP: request.number('top_p'),
    stop: request.list('stop_sequences').map((each) => {
      if (typeof each !== 'string') throw invalid('stop_sequences', 'a list of strings');
      return each;
    }),
    user: request.member('metadata')?.text('user_id') ?? null,
    format: formatOf(request),
    effort: effortOf(request),
    showsThinking: false,
  };
}

/** A string, or a list of blocks of text. */
function textsOf(object: Members, name: string): readonly TextPart[] {
  const content = object.value(name);
  if (content === null) return [];
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return object.each(name).map((block) => {
    const type = block.requiredText('type');
    if (type !== 'text') throw unsupported(block.at('type'), `a block of type ${type} there`);
    return { type, text: block.requiredText('text'), ...cacheOf(block) };
  });
}

function blocksOf(object: Members): readonly Members[] {
  const content = object.value('content');
  if (content === null) return [];
  if (typeof content !== 'string') return object.each('content');
  return [new Members({ type: 'text', text: content }, object.at('content'))];
}

function turnsOf(message: Members): readonly Turn[] {
  const role = message.requiredText('role');
  if (role === 'assistant') return [assistantTurn(message)];
  if (role === 'system') return [{ role, text: textsOf(message, 'content') }];
  if (role !== 'user') throw unsupported(message.at('role'), `a message of role ${role}`);
  const blocks = blocksOf(message);
  const results = blocks.filter((block) => block.text('type') === 'tool_result');
  const parts = blocks.filter((block) => !results.includes(block)).map(partOf);
  const tools = results.map(
    (result): Turn => ({
      role: 'tool',
      callId: result.requiredText('tool_use_id'),
      parts: blocksOf(result).map(partOf),
      ...cacheOf(result),
    }),
  );
  return parts.length === 0 && tools.length > 0 ? tools : [...tools, { role, parts }];
}

/** Thinking blocks are for the provider that they came from. */
const THOUGHT = ['thinking', 'redacted_thinking'];

function assistantTurn(message: Members): Turn {
  const text: TextPart[] = [];
  const calls: ToolCall[] = [];
  for (const block of blocksOf(message)) {
    const type = block.requiredText('type');
    if (type === 'text') text.push({ type, text: block.requiredText('text'), ...cacheOf(block) });
    else if (type === 'tool_use') calls.push(callOf(block));
    else if (!THOUGHT.includes(type)) throw unsupported(block.at('type'), `a block of type ${type} there`);
  }
  return { role: 'assistant', text, calls };
}

function callOf(block: Members): ToolCall {
  return {
    id: block.requiredText('id'),
    name: block.requiredText('name'),
    input: block.required('input').object,
    ...cacheOf(block),
  };
}

function partOf(block: Members): Part {
  const type = block.requiredText('type');
  const cache = cacheOf(block);
  if (type === 'text') return { type, text: block.requiredText('text'), ...cache };
  if (type === 'image') return { type, source: sourceOf(block.required('source')), ...cache };
  if (type !== 'document') throw unsupported(block.at('type'), `a block of type ${type}`);
  const source = block.required('source');
  if (source.text('type') === 'text') return { type: 'text', text: source.requiredText('data'), ...cache };
  return { type, source: sourceOf(source), name: block.text('title'), ...cache };
}

function sourceOf(source: Members): Source {
  const type = source.requiredText('type');
  if (type === 'url') return { kind: 'url', url: source.requiredText('url') };
  if (type !== 'base64') throw unsupported(source.at('type'), `a source of type ${type}`);
  return {
    kind: 'base64',
    mediaType: registeredType(source.requiredText('media_type')),
    data: source.requiredText('data'),
  };
}

function toolOf(tool: Members): Tool {
  const type = tool.text('type') ?? 'custom';
  if (type !== 'custom') throw unsupported(tool.at('type'), `tools of type ${type}`);
  return {
    name: tool.requiredText('name'),
    description: tool.text('description'),
    schema: tool.required('input_schema').object,
    strict: tool.flag('strict') === true,
    ...cacheOf(tool),
  };
}

function choiceOf(choice: Members): ToolChoice {
  const type = choice.requiredText('type');
  if (type === 'auto' || type === 'none') return type;
  if (type === 'any') return 'required';
  if (type !== 'tool') throw unsupported(choice.at('type'), `a tool_choice of type ${type}`);
  return { name: choice.requiredText('name') };
}

function formatOf(request: Members): Format | null {
  const format = request.member('output_config')?.member('format') ?? null;
  if (format === null) return null;
  const type = format.requiredText('type');
  if (type !== 'json_schema') throw unsupported(format.at('type'), `a format ${type}`);
  return { type: 'schema', schema: format.required('schema').object };
}

/** Up to which share of the answer's tokens a budget is which effort: halfway to the next one. */
const EFFORTS: readonly (readonly [share: number, effort: Effort])[] = [
  [0.35, 'low'],
  [0.65, 'medium'],
  [0.875, 'high'],
];

/** Returns the effort that the request names, or else the effort that its budget amounts to. */
function effortOf(request: Members): Effort | null {
  const thinking = request.member('thinking');
  const type = thinking?.text('type') ?? null;
  if (type === 'disabled' || type === 'between_tools') return 'none';
  const config = request.member('output_config');
  const effort = config === null ? null : readEffort(config, 'effort');
  if (effort !== null) return effort;
  if (thinking === null || type !== 'enabled') return null;
  const share = (thinking.count('budget_tokens') ?? 0) / (request.count('max_tokens') ?? Number.POSITIVE_INFINITY);
  return EFFORTS.find(([most]) => share < most)?.[1] ?? 'xhigh';
}
