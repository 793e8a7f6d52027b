/** Writes responses: whole, and in the events of a stream. */

import { get, type Obj } from '../../../../kit.ts';
import type { Block, Message, MessageEvent, StopReason } from '../conversation/conversation.ts';
import { type ProviderError, ProviderFailure } from '../conversation/provider-failure.ts';
import { UNCOUNTED, type Usage } from '../conversation/usage.ts';
import type { EventWriter } from './translated-stream.ts';

/** The members of a response that are known from its beginning. */
export interface ResponseHead {
  readonly id: string;
  /** Seconds since 1970. */
  readonly created: number;
  /** The request as the client sent it, which the response repeats in part. */
  readonly request: Obj;
  /** Reasoning of the model becomes an item as well. */
  readonly showsThinking: boolean;
}

/** Members that a response repeats, with their defaults. */
const REPEATED: Obj = {
  instructions: null,
  max_output_tokens: null,
  metadata: {},
  parallel_tool_calls: true,
  reasoning: { effort: null, summary: null },
  temperature: null,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  top_p: null,
  truncation: 'disabled',
};

export function wholeResponse(head: ResponseHead, { model, blocks, stop, usage }: Message): object {
  const shown = blocks.filter(({ type }) => type !== 'thinking' || head.showsThinking);
  const output = shown.map((block, i) => itemOf(block, itemId(head, block.type, i), 'completed'));
  return responseOf(head, model, { ...ending(stop), output: ended(output, stop), usage: responseUsageOf(usage) });
}

function responseOf({ id, created, request }: ResponseHead, model: string, state: object): object {
  const repeated = Object.entries(REPEATED).map(([name, value]) => [name, get(request, name) ?? value]);
  return {
    id,
    object: 'response',
    created_at: created,
    model,
    background: false,
    error: null,
    incomplete_details: null,
    previous_response_id: null,
    store: false,
    ...Object.fromEntries(repeated),
    ...state,
  };
}

function ending(stop: StopReason): object {
  if (stop === 'length') return { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } };
  if (stop === 'refusal') return { status: 'incomplete', incomplete_details: { reason: 'content_filter' } };
  return { status: 'completed' };
}

function isCut(stop: StopReason): boolean {
  return stop === 'length' || stop === 'refusal';
}

/** Marks the last item as incomplete if the model was cut off. */
function ended(output: readonly object[], stop: StopReason): readonly object[] {
  const last = output.at(-1);
  return last === undefined || !isCut(stop) ? output : [...output.slice(0, -1), { ...last, status: 'incomplete' }];
}

const PREFIXES: Readonly<Record<Block['type'], string>> = { text: 'msg', thinking: 'rs', call: 'fc' };

function itemId({ id }: ResponseHead, type: Block['type'], index: number): string {
  return `${PREFIXES[type]}_${id.replace(/^resp_/, '')}_${index}`;
}

function itemOf(block: Block, id: string, status: string): object {
  if (block.type === 'text') {
    return { id, type: 'message', status, role: 'assistant', content: [textPart(block.text)] };
  }
  if (block.type === 'thinking') return { id, type: 'reasoning', status, summary: [summaryPart(block.text)] };
  return { id, type: 'function_call', status, call_id: block.id, name: block.name, arguments: block.input };
}

function textPart(text: string): object {
  return { type: 'output_text', text, annotations: [], logprobs: [] };
}

function summaryPart(text: string): object {
  return { type: 'summary_text', text };
}

function responseUsageOf(usage: Usage | null): object {
  const { prompt, completion, cached, reasoning } = usage ?? UNCOUNTED;
  return {
    input_tokens: prompt,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: completion,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: prompt + completion,
  };
}

/** Characters of a streamed response, which its last event repeats. */
const MAX_TEXT = 4 << 20;

/** One stream of events. Its output is held in memory, since the last event repeats all of it. */
export class ResponseEvents implements EventWriter {
  readonly #head: ResponseHead;
  #model = '';
  #sequence = 0;
  #length = 0;
  readonly #output: object[] = [];
  /** The block that has begun, and its pieces. */
  #block: { readonly id: string; readonly begun: Block; readonly pieces: string[] } | null = null;

  constructor(head: ResponseHead) {
    this.#head = head;
  }

  /** Throws ProviderFailure if the output is larger than can be held. */
  write(event: MessageEvent): string {
    switch (event.type) {
      case 'start': {
        this.#model = event.model;
        const response = responseOf(this.#head, event.model, { status: 'in_progress', output: [], usage: null });
        return this.#event('response.created', { response }) + this.#event('response.in_progress', { response });
      }
      case 'text':
        return this.#begin({ type: 'text', text: '' });
      case 'thinking':
        return this.#head.showsThinking ? this.#begin({ type: 'thinking', text: '' }) : '';
      case 'call':
        return this.#begin({ ...event, input: '' });
      case 'piece':
        return this.#piece(event.text);
      case 'block-end':
        return this.#finish();
      case 'end':
        return this.#end(event.stop, event.usage);
    }
  }

  error({ message, code }: ProviderError): string {
    return this.#event('error', { code, message, param: null });
  }

  #event(type: string, members: object): string {
    return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: this.#sequence++, ...members })}\n\n`;
  }

  get #place(): { readonly item_id: string; readonly output_index: number } {
    return { item_id: this.#block?.id ?? '', output_index: this.#output.length };
  }

  get #summaryPlace(): object {
    return { ...this.#place, summary_index: 0 };
  }

  #begin(begun: Block): string {
    const id = itemId(this.#head, begun.type, this.#output.length);
    this.#block = { id, begun, pieces: [] };
    const whole = itemOf(begun, id, 'in_progress');
    const empty = { text: { content: [] }, thinking: { summary: [] }, call: {} }[begun.type];
    const item = { ...whole, ...empty };
    const added = this.#event('response.output_item.added', { output_index: this.#output.length, item });
    return added + this.#partAdded(begun.type);
  }

  #partAdded(type: Block['type']): string {
    if (type === 'call') return '';
    if (type === 'text')
      return this.#event('response.content_part.added', { ...this.#place, content_index: 0, part: textPart('') });
    return this.#event('response.reasoning_summary_part.added', { ...this.#summaryPlace, part: summaryPart('') });
  }

  #piece(text: string): string {
    // A piece of thinking that is not shown.
    if (this.#block === null) return '';
    this.#length += text.length;
    if (this.#length > MAX_TEXT) throw new ProviderFailure(`its answer has more than ${MAX_TEXT} characters`);
    this.#block.pieces.push(text);
    if (this.#block.begun.type === 'call') {
      return this.#event('response.function_call_arguments.delta', { ...this.#place, delta: text });
    }
    if (this.#block.begun.type === 'thinking') {
      return this.#event('response.reasoning_summary_text.delta', { ...this.#summaryPlace, delta: text });
    }
    return this.#event('response.output_text.delta', { ...this.#place, content_index: 0, delta: text, logprobs: [] });
  }

  #finish(): string {
    if (this.#block === null) return '';
    const { id, begun, pieces } = this.#block;
    const text = pieces.join('');
    const done = this.#partDone(begun, text);
    const item = itemOf(begun.type === 'call' ? { ...begun, input: text } : { ...begun, text }, id, 'completed');
    const ended = this.#event('response.output_item.done', { output_index: this.#output.length, item });
    this.#output.push(item);
    this.#block = null;
    return done + ended;
  }

  #partDone(begun: Block, text: string): string {
    if (begun.type === 'call') return this.#callDone(begun.name, text);
    return begun.type === 'text' ? this.#textDone(text) : this.#summaryDone(text);
  }

  #summaryDone(text: string): string {
    const place = this.#summaryPlace;
    return (
      this.#event('response.reasoning_summary_text.done', { ...place, text }) +
      this.#event('response.reasoning_summary_part.done', { ...place, part: summaryPart(text) })
    );
  }

  #callDone(name: string, text: string): string {
    return this.#event('response.function_call_arguments.done', { ...this.#place, name, arguments: text });
  }

  #textDone(text: string): string {
    const place = { ...this.#place, content_index: 0 };
    return (
      this.#event('response.output_text.done', { ...place, text, logprobs: [] }) +
      this.#event('response.content_part.done', { ...place, part: textPart(text) })
    );
  }

  #end(stop: StopReason, usage: Usage | null): string {
    const state = { ...ending(stop), output: ended(this.#output, stop), usage: responseUsageOf(usage) };
    const type = isCut(stop) ? 'response.incomplete' : 'response.completed';
    return this.#event(type, { response: responseOf(this.#head, this.#model, state) });
  }
}
