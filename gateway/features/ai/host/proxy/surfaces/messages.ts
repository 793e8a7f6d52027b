/** `/v1/messages`: providers of the same protocol get the client's request; others a translation. */

import { get, type HeaderList, type ServerSentEvent } from '../../../../kit.ts';
import { saysCache } from '../conversation/cache-marks.ts';
import { incompleteStream, type ProviderError } from '../conversation/provider-failure.ts';
import type { Usage } from '../conversation/usage.ts';
import { CompletionChunks, completionError, readCompletion } from '../protocols/chat-answer.ts';
import { chatRequest, dropsEffort } from '../protocols/chat-request.ts';
import { MessageEvents, readMessage } from '../protocols/messages-answer.ts';
import type { Provider } from '../targets/provider.ts';
import type { AiSettings } from '../targets/settings.ts';
import { MessageEventWriter, messageErrorBody, messageErrorEvent, wholeMessage } from './messages-answer.ts';
import { readMessagesRequest } from './messages-request.ts';
import { bodyWith } from './request-body.ts';
import type { StreamedAnswer, Surface, SurfaceRequest, Translation } from './surface.ts';
import { TranslatedStream } from './translated-stream.ts';

/** Features of the provider that a client wants before they are everyone's. */
export const BETA = 'anthropic-beta';

export const messages: Surface = {
  translate: (request, provider, settings) =>
    provider === 'provider_messages' ? passThrough(request, settings) : toChat(request, provider, settings),
  error: messageErrorBody,
};

export function betaHeaders(beta: string | null): HeaderList {
  return beta === null ? [] : [BETA, beta];
}

function passThrough({ body, parsed, beta }: SurfaceRequest, { maxTokens }: AiSettings): Translation {
  const limited = maxTokens === null || (get(parsed, 'max_tokens') ?? null) !== null;
  return {
    path: '/messages',
    body: bodyWith(body, parsed, limited ? {} : { max_tokens: maxTokens }),
    warnings: [],
    headers: betaHeaders(beta),
    whole: (value, bytes) => ({ body: bytes, usage: readMessage(value).usage }),
    error: () => null,
    streamed: () => new PassedMessage(),
  };
}

function toChat({ parsed, model }: SurfaceRequest, provider: Provider, settings: AiSettings): Translation {
  const conversation = readMessagesRequest(parsed);
  const traits = settings.models.traitsOf(provider, model);
  const translated = chatRequest(conversation, {
    maxTokens: settings.maxTokens,
    traits,
    countsStream: settings.streamUsage,
  });
  return {
    path: '/chat/completions',
    body: JSON.stringify(translated),
    warnings: [
      ...(dropsEffort(conversation, traits) ? ['effort' as const] : []),
      ...(saysCache(conversation) ? ['cache' as const] : []),
    ],
    whole: (value) => {
      const message = readCompletion(value);
      return { body: JSON.stringify(wholeMessage(message)), usage: message.usage };
    },
    error: (value, status) => messageErrorBody(completionError(value, status)),
    streamed: () => new TranslatedStream(new MessageEventWriter(), new CompletionChunks()),
  };
}

/** Events pass as they come. */
class PassedMessage implements StreamedAnswer {
  readonly #events = new MessageEvents();

  get usage(): Usage | null {
    return this.#events.usage;
  }

  get begun(): boolean {
    return this.#events.started;
  }

  push(event: ServerSentEvent): Uint8Array {
    const { data, raw } = event;
    // An event outside the protocol ends the stream, as an error in it does.
    if (data !== null) this.#events.read({ ...event, data: Buffer.from(data, 'latin1').toString() });
    return Buffer.from(raw, 'latin1');
  }

  end(rest: string): Uint8Array {
    if (!this.#events.ended) throw incompleteStream();
    return Buffer.from(rest, 'latin1');
  }

  error(error: ProviderError): string {
    return messageErrorEvent(error);
  }
}
