/** `/v1/chat/completions`: providers of the same protocol get the client's request; others a translation. */

import { get, isObject, type Obj, plainNumber, type ServerSentEvent } from '../../../../kit.ts';
import {
  incompleteStream,
  type ProviderError,
  ProviderFailure,
  ReportedError,
} from '../conversation/provider-failure.ts';
import { chatUsage, type Usage } from '../conversation/usage.ts';
import { checkCompletion, refuseError } from '../protocols/chat-answer.ts';
import { messageError, readMessage } from '../protocols/messages-answer.ts';
import { messageRequest } from '../protocols/messages-request.ts';
import type { Provider } from '../targets/provider.ts';
import type { AiSettings } from '../targets/settings.ts';
import { ChatChunks, chatCompletion, chatError, chatErrorEvent } from './chat-answer.ts';
import { readChatRequest } from './chat-request.ts';
import { bodyWith } from './request-body.ts';
import type { StreamedAnswer, Surface, SurfaceRequest, Translation } from './surface.ts';
import { TranslatedStream } from './translated-stream.ts';

export const chat: Surface = {
  translate: (request, provider, settings) =>
    provider === 'provider_messages' ? toMessages(request, settings) : passThrough(request, provider, settings),
  error: chatError,
};

/** Seconds since 1970. */
function now(): number {
  return Math.floor(Date.now() / 1000);
}

function passThrough(request: SurfaceRequest, provider: Provider, settings: AiSettings): Translation {
  const { body, parsed, stream } = request;
  const counts = stream && settings.streamUsage && !wantsUsage(request);
  const members = {
    ...limit(request, provider, settings),
    ...(counts ? { stream_options: countedOptions(request) } : {}),
  };
  return {
    path: '/chat/completions',
    body: bodyWith(body, parsed, members),
    warnings: [],
    whole(value, bytes) {
      checkCompletion(value);
      return { body: bytes, usage: chatUsage(get(value, 'usage')) };
    },
    error: () => null,
    streamed: () => new PassedChunks(counts, Math.max(1, Number(plainNumber(get(parsed, 'n')) ?? 1))),
  };
}

function limit({ parsed, model }: SurfaceRequest, provider: Provider, { maxTokens, models }: AiSettings): Obj {
  const named = get(parsed, 'max_tokens') ?? get(parsed, 'max_completion_tokens') ?? null;
  return maxTokens === null || named !== null ? {} : { [models.traitsOf(provider, model).limit]: maxTokens };
}

function wantsUsage({ parsed }: SurfaceRequest): boolean {
  return get(get(parsed, 'stream_options'), 'include_usage') === true;
}

function countedOptions({ parsed }: SurfaceRequest): object {
  return { ...Object(get(parsed, 'stream_options') ?? {}), include_usage: true };
}

/** Chunks that a gateway reads: a count (if requested, every other chunk has null there), an end, or an error. */
const TELLING = /"usage"\s*:\s*\{|"finish_reason"\s*:\s*"[^"]|"error"/;

/** Chunks of the same protocol: they pass as they come, except for a count of tokens that the client did not ask for. */
class PassedChunks implements StreamedAnswer {
  readonly #hidesCount: boolean;
  /** Choices that have no end yet. */
  #open: number;
  /** An error as the provider has sent it, which ends the stream. */
  #reported: Buffer | null = null;
  begun = false;
  usage: Usage | null = null;

  constructor(hidesCount: boolean, choices: number) {
    this.#hidesCount = hidesCount;
    this.#open = choices;
  }

  push({ data, raw }: ServerSentEvent): Uint8Array {
    const bytes = Buffer.from(raw, 'latin1');
    if (data === null) return bytes;
    if (isDone(data)) {
      this.#open = 0;
      return bytes;
    }
    const isFirst = !this.begun;
    if (!isFirst && !TELLING.test(data)) return bytes;
    const chunk = jsonOf(Buffer.from(data, 'latin1').toString());
    if (isFirst) this.#begin(chunk);
    else this.#refuseError(chunk, bytes);
    this.usage = chatUsage(get(chunk, 'usage')) ?? this.usage;
    const choices = get(chunk, 'choices');
    if (!Array.isArray(choices)) return bytes;
    this.#open -= choices.filter((choice) => Boolean(get(choice, 'finish_reason'))).length;
    const isCount = choices.length === 0 && isObject(get(chunk, 'usage'));
    return this.#hidesCount && isCount ? NOTHING : bytes;
  }

  #begin(chunk: unknown): void {
    if (!isObject(chunk)) throw new ProviderFailure('its stream does not consist of chunks');
    refuseError(chunk);
    this.begun = Array.isArray(get(chunk, 'choices'));
  }

  #refuseError(chunk: unknown, bytes: Buffer): void {
    try {
      refuseError(chunk);
    } catch (error) {
      if (error instanceof ReportedError) this.#reported = bytes;
      throw error;
    }
  }

  /** A stream is whole if it says so, or if each of its choices has its end. */
  end(rest: string): Uint8Array {
    const isWhole = this.#open <= 0 || rest.split(/\r\n|\r|\n/).some((line) => isDone(line.replace(/^data:/, '')));
    if (!isWhole) throw incompleteStream();
    return Buffer.from(rest, 'latin1');
  }

  error(error: ProviderError): Uint8Array | string {
    return this.#reported ?? chatErrorEvent(error);
  }
}

function isDone(data: string): boolean {
  return data.trim() === '[DONE]';
}

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
    body: JSON.stringify(
      messageRequest(conversation, settings.maxTokens, settings.models.traitsOf('provider_messages', request.model)),
    ),
    warnings: [],
    whole: (value) => {
      const message = readMessage(value);
      return { body: JSON.stringify(chatCompletion(message, now())), usage: message.usage };
    },
    error: (value, status) => chatError(messageError(value, status)),
    streamed: () => new TranslatedStream(new ChatChunks(wantsUsage(request), now())),
  };
}
