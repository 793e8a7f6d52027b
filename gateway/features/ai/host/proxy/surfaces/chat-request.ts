/** Reads the body of a chat completion. */
import { cacheOf, markAtEnd } from '../conversation/cache-marks.ts';
import type {
  Conversation,
  Format,
  Part,
  TextPart,
  Tool,
  ToolCall,
  ToolChoice,
  Turn,
} from '../conversation/conversation.ts';
import { readEffort } from '../conversation/effort.ts';
import { Members } from '../conversation/json-reader.ts';
import { invalid, unsupported } from '../conversation/refusal.ts';
import { callInput, customTools, functionTool, sourceOf } from './parts.ts';

/** Throws AiRefusal if the request is not valid, or a conversation cannot express it. */
export function readChatRequest(body: unknown): Conversation {
  const request = new Members(body, '');
  const messages = request.each('messages');
  refuseLossyMembers(request);
  return {
    model: request.requiredText('model'),
    stream: request.flag('stream') === true,
    ...cacheOf(request),
    instructions: messages.filter(isInstruction).flatMap(textsOf),
    turns: messages.filter((message) => !isInstruction(message)).map(turnOf),
    tools: request.each('tools').map(toolOf),
    toolChoice: choiceOf(request),
    parallelCalls: request.flag('parallel_tool_calls') !== false,
    maxTokens: request.count('max_completion_tokens') ?? request.count('max_tokens'),
    temperature: request.number('temperature'),
    topP: request.number('top_p'),
    stop: typeof request.value('stop') === 'string' ? [request.requiredText('stop')] : stops(request),
    user: request.text('user'),
    format: formatOf(request),
    effort: readEffort(request, 'reasoning_effort'),
    // A completion has no place for it.
    showsThinking: false,
  };
}

/** Refuses members whose loss would silently change the request. */
function refuseLossyMembers(request: Members): void {
  if ((request.count('n') ?? 1) > 1) throw unsupported('n', 'more than one choice');
  if (request.has('functions')) throw unsupported('functions', 'functions: send tools');
  if (request.has('audio') || request.list('modalities').includes('audio')) throw unsupported('modalities', 'audio');
}

function stops(request: Members): readonly string[] {
  return request.list('stop').map((each) => {
    if (typeof each !== 'string') throw invalid('stop', 'a string or a list of strings');
    return each;
  });
}

function isInstruction(message: Members): boolean {
  const role = message.text('role');
  return role === 'system' || role === 'developer';
}

/** Content that is text only: a string, or a list of parts. */
function textsOf(message: Members): readonly TextPart[] {
  const content = message.value('content');
  if (content === null) return [];
  if (typeof content === 'string') return [{ type: 'text', text: content, ...cacheOf(message) }];
  const parts = message.each('content').map((part): TextPart => {
    const type = part.requiredText('type');
    if (type !== 'text' && type !== 'refusal') throw unsupported(part.at('type'), `a part of type ${type} there`);
    return { type: 'text', text: part.requiredText(type), ...cacheOf(part) };
  });
  return markAtEnd(parts, cacheOf(message));
}

function turnOf(message: Members): Turn {
  const role = message.requiredText('role');
  if (role === 'user') return { role, parts: partsOf(message) };
  if (role === 'tool') return toolTurn(message);
  if (role === 'assistant') return { role, text: textsOf(message), calls: message.each('tool_calls').map(callOf) };
  throw unsupported(message.at('role'), `a message of role ${role}`);
}

/** Marks a result as a whole if its last part is marked. */
function toolTurn(message: Members): Turn {
  const parts = partsOf(message);
  const { cache } = parts.at(-1) ?? {};
  return {
    role: 'tool',
    callId: message.requiredText('tool_call_id'),
    parts: parts.map(({ cache: _, ...part }) => part),
    ...(cache === undefined ? {} : { cache }),
  };
}

function partsOf(message: Members): readonly Part[] {
  const content = message.value('content');
  if (content === null) return [];
  const parts: readonly Part[] =
    typeof content === 'string' ? [{ type: 'text', text: content }] : message.each('content').map(partOf);
  return markAtEnd(parts, cacheOf(message));
}

function partOf(part: Members): Part {
  const type = part.requiredText('type');
  const cache = cacheOf(part);
  if (type === 'text') return { type, text: part.requiredText('text'), ...cache };
  if (type === 'image_url') {
    const image = part.required('image_url');
    return { type: 'image', source: sourceOf(image.requiredText('url'), image.at('url')), ...cache };
  }
  if (type !== 'file') throw unsupported(part.at('type'), `a part of type ${type}`);
  const file = part.required('file');
  if (!file.has('file_data')) throw unsupported(file.at('file_id'), 'files of another provider: send file_data');
  const source = sourceOf(file.requiredText('file_data'), file.at('file_data'));
  return { type: 'document', source, name: file.text('filename'), ...cache };
}

function callOf(call: Members): ToolCall {
  if ((call.text('type') ?? 'function') !== 'function') throw customTools(call.at('type'));
  const called = call.required('function');
  return { id: call.requiredText('id'), name: called.requiredText('name'), input: callInput(called, 'arguments') };
}

function toolOf(tool: Members): Tool {
  if (tool.requiredText('type') !== 'function') throw customTools(tool.at('type'));
  const described = tool.required('function');
  return { ...functionTool(described), ...cacheOf(described), ...cacheOf(tool) };
}

function choiceOf(request: Members): ToolChoice | null {
  const choice = request.value('tool_choice');
  if (choice === null || choice === 'auto' || choice === 'none' || choice === 'required') return choice;
  const named = request.required('tool_choice');
  if (named.requiredText('type') !== 'function') throw unsupported('tool_choice', 'this tool_choice');
  return { name: named.required('function').requiredText('name') };
}

function formatOf(request: Members): Format | null {
  const format = request.member('response_format');
  const type = format?.requiredText('type') ?? 'text';
  if (format === null || type === 'text') return null;
  if (type === 'json_object') return { type: 'json' };
  if (type !== 'json_schema') throw unsupported(format.at('type'), `a format ${type}`);
  return { type: 'schema', schema: format.required('json_schema').required('schema').object };
}
