/** Writes chat completions: whole, and in the chunks of a stream. */
import type { Message, MessageEvent, StopReason } from '../conversation/conversation.ts';
import type { ProviderError } from '../conversation/provider-failure.ts';
import { errorType } from '../conversation/refusal.ts';
import { UNCOUNTED, type Usage } from '../conversation/usage.ts';
import type { EventWriter } from './translated-stream.ts';

const FINISH: Readonly<Record<StopReason, string>> = {
  end: 'stop',
  length: 'length',
  tools: 'tool_calls',
  refusal: 'content_filter',
};

/** `created`: seconds since 1970. */
export function chatCompletion(message: Message, created: number): object {
  const text = message.blocks.flatMap((block) => (block.type === 'text' ? [block.text] : []));
  const calls = message.blocks.flatMap((block) => (block.type === 'call' ? [callOf(block)] : []));
  return {
    id: message.id,
    object: 'chat.completion',
    created,
    model: message.model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: text.length === 0 ? null : text.join(''),
          refusal: null,
          ...(calls.length === 0 ? {} : { tool_calls: calls }),
        },
        logprobs: null,
        finish_reason: FINISH[message.stop],
      },
    ],
    usage: chatUsageOf(message.usage),
  };
}

function callOf({ id, name, input }: { readonly id: string; readonly name: string; readonly input: string }): object {
  return { id, type: 'function', function: { name, arguments: input } };
}

function chatUsageOf(usage: Usage | null): object {
  const { prompt, completion, cached, reasoning } = usage ?? UNCOUNTED;
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: cached },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
}

/** One stream of chunks. */
export class ChatChunks implements EventWriter {
  /** The client wants the count of tokens at the end (`stream_options.include_usage`). */
  readonly #withUsage: boolean;
  readonly #created: number;
  #id = '';
  #model = '';
  #calls = 0;
  #block: 'text' | 'thinking' | 'call' = 'text';

  constructor(withUsage: boolean, created: number) {
    this.#withUsage = withUsage;
    this.#created = created;
  }

  write(event: MessageEvent): string {
    switch (event.type) {
      case 'start':
        this.#id = event.id;
        this.#model = event.model;
        return this.#delta({ role: 'assistant', content: '', refusal: null });
      case 'text':
      case 'thinking':
        this.#block = event.type;
        return '';
      case 'call':
        this.#block = 'call';
        return this.#delta({ tool_calls: [{ index: this.#calls++, ...callOf({ ...event, input: '' }) }] });
      case 'piece':
        return this.#block === 'thinking' ? '' : this.#delta(this.#piece(event.text));
      case 'block-end':
        return '';
      case 'end':
        return this.#end(event.stop, event.usage);
    }
  }

  error(error: ProviderError): string {
    return chatErrorEvent(error);
  }

  #piece(text: string): object {
    if (this.#block === 'text') return { content: text };
    return { tool_calls: [{ index: this.#calls - 1, function: { arguments: text } }] };
  }

  #delta(delta: object, finish: string | null = null): string {
    const choices = [{ index: 0, delta, logprobs: null, finish_reason: finish }];
    return this.#chunk({ choices, ...(this.#withUsage ? { usage: null } : {}) });
  }

  #chunk(members: object): string {
    const head = { id: this.#id, object: 'chat.completion.chunk', created: this.#created, model: this.#model };
    return `data: ${JSON.stringify({ ...head, ...members })}\n\n`;
  }

  #end(stop: StopReason, usage: Usage | null): string {
    const counted = this.#withUsage ? this.#chunk({ choices: [], usage: chatUsageOf(usage) }) : '';
    return `${this.#delta({}, FINISH[stop])}${counted}data: [DONE]\n\n`;
  }
}

/** Returns the body of a provider's error for clients of this surface. */
export function chatError({ status, message, code }: ProviderError): object {
  return { error: { message, type: errorType(status), param: null, code } };
}

/** An error behind the head of a stream, which ends it. */
export function chatErrorEvent(error: ProviderError): string {
  return `data: ${JSON.stringify(chatError(error))}\n\n`;
}
