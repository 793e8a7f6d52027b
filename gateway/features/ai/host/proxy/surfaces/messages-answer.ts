/** Writes messages: whole, and in the events of a stream. */

import { parseAsWritten } from '../../../../kit.ts';
import type { Block, Message, MessageEvent, StopReason } from '../conversation/conversation.ts';
import type { ProviderError } from '../conversation/provider-failure.ts';
import { errorType } from '../conversation/refusal.ts';
import { UNCOUNTED, type Usage } from '../conversation/usage.ts';
import type { EventWriter } from './translated-stream.ts';

const STOPS: Readonly<Record<StopReason, string>> = {
  end: 'end_turn',
  length: 'max_tokens',
  tools: 'tool_use',
  refusal: 'refusal',
};

export function wholeMessage({ id, model, blocks, stop, usage }: Message): object {
  const content = blocks.flatMap(contentOf);
  return { ...messageOf(id, model), content, stop_reason: STOPS[stop], usage: usageOf(usage) };
}

function messageOf(id: string, model: string): object {
  return { id, type: 'message', role: 'assistant', model, content: [], stop_reason: null, stop_sequence: null };
}

/** Leaves thinking out: it has a signature that only its provider can make. */
function contentOf(block: Block): readonly object[] {
  if (block.type === 'text') return [block];
  if (block.type === 'thinking') return [];
  return [{ type: 'tool_use', id: block.id, name: block.name, input: parseAsWritten(block.input) }];
}

/** There, tokens out of the cache are not among those of the input. */
function usageOf(usage: Usage | null): object {
  const { prompt, completion, cached, reasoning, written = 0 } = usage ?? UNCOUNTED;
  return {
    input_tokens: Math.max(0, prompt - cached - written),
    cache_creation_input_tokens: written,
    cache_read_input_tokens: cached,
    output_tokens: completion,
    output_tokens_details: { thinking_tokens: reasoning },
  };
}

export function messageErrorBody({ status, message, code }: ProviderError) {
  const type = status >= 500 ? 'api_error' : errorType(status);
  return { type: 'error', error: { type: code ?? type, message } };
}

export function messageErrorEvent(error: ProviderError): string {
  return `event: error\ndata: ${JSON.stringify(messageErrorBody(error))}\n\n`;
}

/** One stream of events. */
export class MessageEventWriter implements EventWriter {
  #index = -1;
  #block: Block['type'] = 'text';

  write(event: MessageEvent): string {
    switch (event.type) {
      case 'start': {
        const usage = { input_tokens: 0, output_tokens: 0 };
        return eventOf('message_start', { message: { ...messageOf(event.id, event.model), usage } });
      }
      case 'text':
        return this.#begin('text', { type: 'text', text: '' });
      case 'call':
        return this.#begin('call', { type: 'tool_use', id: event.id, name: event.name, input: {} });
      case 'thinking':
        this.#block = event.type;
        return '';
      case 'piece':
        return this.#piece(event.text);
      case 'block-end':
        return this.#block === 'thinking' ? '' : eventOf('content_block_stop', { index: this.#index });
      case 'end': {
        const delta = { stop_reason: STOPS[event.stop], stop_sequence: null };
        return eventOf('message_delta', { delta, usage: usageOf(event.usage) }) + eventOf('message_stop', {});
      }
    }
  }

  error(error: ProviderError): string {
    return messageErrorEvent(error);
  }

  #begin(block: Block['type'], content_block: object): string {
    this.#block = block;
    return eventOf('content_block_start', { index: ++this.#index, content_block });
  }

  #piece(text: string): string {
    if (this.#block === 'thinking') return '';
    const delta =
      this.#block === 'text' ? { type: 'text_delta', text } : { type: 'input_json_delta', partial_json: text };
    return eventOf('content_block_delta', { index: this.#index, delta });
  }
}

function eventOf(type: string, members: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
}
