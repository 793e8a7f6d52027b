/** `/v1/chat/completions`: providers of the same protocol get what the client sent; others a translation. */

import type { ServerSentEvent } from '../../../server-sent-events.ts';
import { get, isObject } from '../../../spec/json.ts';
import { type ProviderError, ProviderFailed, StreamError } from '../conversation/provider-failure.ts';
import { chatUsage, type Usage } from '../conversation/usage.ts';
import { completionError } from '../protocols/chat-answer.ts';
import { messageError, readMessage } from '../protocols/messages-answer.ts';
import { messageRequest } from '../protocols/messages-request.ts';
import type { AiSettings } from '../targets/settings.ts';
import { ChatChunks, chatCompletion, chatError, chatErrorEvent } from './chat-answer.ts';
import { readChatRequest } from './chat-request.ts';
import { bodyWith } from './request-body.ts';
import type { StreamedAnswer, Surface, SurfaceRequest, Translation } from './surface.ts';
import { TranslatedStream } from './translated-stream.ts';

export const chat: Surface = {
  translate: (request, provider, settings) =>
    provider === 'provider_messages' ? toMessages(request, settings) : asItIs(request, settings),
  error: chatError,
};

/** Seconds since 1970. */
function now(): number {
  return Math.floor(Date.now() / 1000);
}

function asItIs(request: SurfaceRequest, settings: AiSettings): Translation {
  const { body, parsed, stream } = request;
  const counts = stream && settings.streamUsage && !wantsUsage(request);
  const members = { ...limit(request, settings), ...(counts ? { stream_options: countedOptions(request) } : {}) };
  return {
    path: '/chat/completions',
    body: bodyWith(body, parsed, members),
    warnings: [],
    whole: (value, bytes) => ({ body: bytes, usage: chatUsage(get(value, 'usage')) }),
    error: () => null,
    streamed: () => new PassedChunks(counts),
  };
}

function limit({ parsed }: SurfaceRequest, { maxTokens }: AiSettings): { max_tokens?: number } {
  const named = get(parsed, 'max_tokens') ?? get(parsed, 'max_completion_tokens') ?? null;
  return maxTokens === null || named !== null ? {} : { max_tokens: maxTokens };
}

function wantsUsage({ parsed }: SurfaceRequest): boolean {
  return get(get(parsed, 'stream_options'), 'include_usage') === true;
}

function countedOptions({ parsed }: SurfaceRequest): object {
  return { ...Object(get(parsed, 'stream_options') ?? {}), include_usage: true };
}

/** A count that is one: each chunk has a null there where the client or the gateway asked for it. */
const COUNTED = /"usage"\s*:\s*\{/;

/** Chunks of the same protocol: they pass as they come, except for a count of tokens that the client did not ask for. */
class PassedChunks implements StreamedAnswer {
  readonly #hidesCount: boolean;
  begun = false;
  usage: Usage | null = null;

  constructor(hidesCount: boolean) {
    this.#hidesCount = hidesCount;
  }

  push({ data, raw }: ServerSentEvent): Uint8Array {
    const bytes = Buffer.from(raw, 'latin1');
    if (data === null) return bytes;
    if (!this.begun) this.#begin(data);
    if (!COUNTED.test(data)) return bytes;
    const chunk = jsonOf(data);
    this.usage = chatUsage(get(chunk, 'usage')) ?? this.usage;
    const choices = get(chunk, 'choices');
    return this.#hidesCount && Array.isArray(choices) && choices.length === 0 ? NOTHING : bytes;
  }

  #begin(data: string): void {
    if (data.trim() === DONE) return;
    const value = jsonOf(data);
    if (!isObject(value)) throw new ProviderFailed('its stream is none of chunks');
    if (get(value, 'error')) throw new StreamError(completionError(value, 500));
    this.begun = Array.isArray(get(value, 'choices'));
  }

  end(rest: string): Uint8Array {
    return Buffer.from(rest, 'latin1');
  }

  error(error: ProviderError): string {
    return chatErrorEvent(error);
  }
}

const DONE = '[DONE]';
const NOTHING = new Uint8Array(0);

function jsonOf(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return null;
  }
}

function toMessages(request: SurfaceRequest, settings: AiSettings): Translation {
  const conversation = readChatRequest(request.parsed);
  return {
    path: '/messages',
    body: JSON.stringify(messageRequest(conversation, settings.maxTokens)),
    warnings: [],
    whole: (value) => {
      const message = readMessage(value);
      return { body: JSON.stringify(chatCompletion(message, now())), usage: message.usage };
    },
    error: (value, status) => chatError(messageError(value, status)),
    streamed: () => new TranslatedStream(new ChatChunks(wantsUsage(request), now())),
  };
}
