/** Reads the body of a request for a response. */
import { cacheOf } from '../conversation/cache-marks.ts';
import type { Conversation, Format, Part, TextPart, ToolChoice, Turn } from '../conversation/conversation.ts';
import { readEffort } from '../conversation/effort.ts';
import { Members } from '../conversation/json-reader.ts';
import { invalid, refusal, unsupported } from '../conversation/refusal.ts';
import { callInput, customTools, functionTool, sourceOf } from './parts.ts';

export interface ResponsesRequest {
  readonly conversation: Conversation;
  /** Reasoning of earlier turns is left out: it is for the provider that it came from. */
  readonly dropsReasoning: boolean;
}

/** Each response stands alone here (docs/decisions.md#ai-stateless). */
export function refuseState(body: unknown): void {
  if (!new Members(body, '').has('previous_response_id')) return;
  const detail = 'The gateway keeps no responses: send the whole conversation in input.';
  throw refusal('validation-failed', 'previous_response_id_not_supported', detail, { param: 'previous_response_id' });
}

/** Throws AiRefusal if the request is not valid, or a conversation cannot express it. */
export function readResponsesRequest(body: unknown): ResponsesRequest {
  const request = new Members(body, '');
  const items = itemsOf(request);
  const instructions = request.text('instructions');
  const reasoning = request.member('reasoning');
  const spoken = items.filter((item) => typeOf(item) !== 'reasoning');
  const conversation: Conversation = {
    model: request.requiredText('model'),
    stream: request.flag('stream') === true,
    instructions: [
      ...(instructions === null ? [] : [{ type: 'text', text: instructions } as const]),
      ...spoken.filter(isInstruction).flatMap(textsOf),
    ],
    turns: spoken.filter((item) => !isInstruction(item)).map(turnOf),
    tools: request.each('tools').map((tool) => {
      if (tool.requiredText('type') !== 'function') throw customTools(tool.at('type'));
      return functionTool(tool);
    }),
    toolChoice: choiceOf(request),
    parallelCalls: request.flag('parallel_tool_calls') !== false,
    maxTokens: request.count('max_output_tokens'),
    temperature: request.number('temperature'),
    topP: request.number('top_p'),
    stop: [],
    user: request.text('safety_identifier') ?? request.text('user'),
    format: formatOf(request),
    effort: reasoning === null ? null : readEffort(reasoning, 'effort'),
    showsThinking: reasoning?.has('summary') === true,
  };
  if (request.has('prompt')) throw unsupported('prompt', 'prompts of another provider');
  if (request.flag('background') === true) throw unsupported('background', 'responses in the background');
  return { conversation, dropsReasoning: spoken.length < items.length };
}

function itemsOf(request: Members): readonly Members[] {
  const input = request.value('input');
  if (typeof input === 'string') return [new Members({ role: 'user', content: input }, 'input')];
  if (input === null) throw invalid('input', 'a string or a list of items');
  return request.each('input');
}

function typeOf(item: Members): string {
  return item.text('type') ?? 'message';
}

function isInstruction(item: Members): boolean {
  const role = typeOf(item) === 'message' ? item.text('role') : null;
  return role === 'system' || role === 'developer';
}

function turnOf(item: Members): Turn {
  const type = typeOf(item);
  switch (type) {
    case 'message':
      return messageOf(item);
    case 'function_call':
      return {
        role: 'assistant',
        text: [],
        calls: [
          { id: item.requiredText('call_id'), name: item.requiredText('name'), input: callInput(item, 'arguments') },
        ],
      };
    case 'function_call_output':
      return { role: 'tool', callId: item.requiredText('call_id'), parts: partsOf(item, 'output') };
    case 'item_reference':
      throw unsupported(
        item.at('type'),
        'references to items, since the gateway stores none: send them whole, as clients do where store is false',
      );
    default:
      throw customTools(item.at('type'));
  }
}

function messageOf(item: Members): Turn {
  const role = item.requiredText('role');
  if (role === 'user') return { role, parts: partsOf(item, 'content') };
  if (role === 'assistant') return { role, text: textsOf(item), calls: [] };
  throw unsupported(item.at('role'), `a message of role ${role}`);
}

const TEXTS = ['input_text', 'output_text', 'text'];

/** Content that is text only: a string, or a list of parts. */
function textsOf(item: Members): readonly TextPart[] {
  const content = item.value('content');
  if (content === null) return [];
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return item.each('content').map((part): TextPart => {
    const type = part.requiredText('type');
    const isRefusal = type === 'refusal';
    if (!isRefusal && !TEXTS.includes(type)) throw unsupported(part.at('type'), `a part of type ${type} there`);
    return { type: 'text', text: part.requiredText(isRefusal ? 'refusal' : 'text'), ...cacheOf(part) };
  });
}

function partsOf(item: Members, name: string): readonly Part[] {
  const content = item.value(name);
  if (content === null) return [];
  return typeof content === 'string' ? [{ type: 'text', text: content }] : item.each(name).map(partOf);
}

function partOf(part: Members): Part {
  const type = part.requiredText('type');
  const cache = cacheOf(part);
  if (TEXTS.includes(type)) return { type: 'text', text: part.requiredText('text'), ...cache };
  if (type === 'input_image') {
    return { type: 'image', source: sourceOf(urlOf(part, ['image_url']), part.at('image_url')), ...cache };
  }
  if (type !== 'input_file') throw unsupported(part.at('type'), `a part of type ${type}`);
  const source = sourceOf(urlOf(part, ['file_data', 'file_url']), part.at('file_data'));
  return { type: 'document', source, name: part.text('filename'), ...cache };
}

function urlOf(part: Members, names: readonly string[]): string {
  const url = names.map((name) => part.text(name)).find((each) => each !== null);
  if (url === undefined || url === null)
    throw unsupported(part.at('file_id'), 'files of another provider: send their data');
  return url;
}

function choiceOf(request: Members): ToolChoice | null {
  const choice = request.value('tool_choice');
  if (choice === null || choice === 'auto' || choice === 'none' || choice === 'required') return choice;
  const named = request.required('tool_choice');
  if (named.requiredText('type') !== 'function') throw customTools('tool_choice.type');
  return { name: named.requiredText('name') };
}

function formatOf(request: Members): Format | null {
  const format = request.member('text')?.member('format') ?? null;
  const type = format?.requiredText('type') ?? 'text';
  if (format === null || type === 'text') return null;
  if (type === 'json_object') return { type: 'json' };
  if (type !== 'json_schema') throw unsupported(format.at('type'), `a format ${type}`);
  return { type: 'schema', schema: format.required('schema').object };
}
