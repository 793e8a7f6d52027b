/** `/v1/responses`, without state: chat providers get the client's request, messages providers a translation. */
import { randomUUIDv7 } from 'node:crypto';
import { get, isObject, nestsTooDeeply, type Obj, parseAsWritten, type ServerSentEvent } from '../../../../kit.ts';
import {
  incompleteStream,
  type ProviderError,
  ProviderFailure,
  ReportedError,
} from '../conversation/provider-failure.ts';
import { refusal } from '../conversation/refusal.ts';
import { responseUsage, type Usage } from '../conversation/usage.ts';
import { completionError, refuseError } from '../protocols/chat-answer.ts';
import { messageError, readMessage } from '../protocols/messages-answer.ts';
import { messageRequest } from '../protocols/messages-request.ts';
import type { AiSettings } from '../targets/settings.ts';
import { chatError } from './chat-answer.ts';
import { bodyWith } from './request-body.ts';
import { ResponseEvents, wholeResponse } from './responses-answer.ts';
import { readResponsesRequest, refuseState } from './responses-request.ts';
import type { StreamedAnswer, Surface, SurfaceRequest, Translation, Warning } from './surface.ts';
import { TranslatedStream } from './translated-stream.ts';

export const responses: Surface = {
  translate(request, provider, settings) {
    refuseState(request.parsed);
    if (provider === 'provider_local') throw notLocal();
    return provider === 'provider_messages' ? toMessages(request, settings) : passThrough(request, settings);
  },
  error: chatError,
};

function notLocal() {
  const detail = 'The provider of this model has chat completions only.';
  return refusal('validation-failed', 'responses_not_supported_for_provider', detail, { param: 'model' });
}

/** Returns an id of the gateway: those of a provider are useless here. */
function newId(): string {
  return `resp_${randomUUIDv7()}`;
}

function storeWarnings({ parsed }: SurfaceRequest): readonly Warning[] {
  return get(parsed, 'store') === false ? [] : ['store'];
}

function passThrough(request: SurfaceRequest, { maxTokens }: AiSettings): Translation {
  const { body, parsed } = request;
  const limited = maxTokens === null || (get(parsed, 'max_output_tokens') ?? null) !== null;
  const id = newId();
  return {
    path: '/responses',
    body: bodyWith(body, parsed, limited ? {} : { max_output_tokens: maxTokens }),
    warnings: storeWarnings(request),
    whole(value) {
      const output = get(value, 'output');
      if (!Array.isArray(output)) refuseError(value);
      if (!isObject(value) || !Array.isArray(output)) throw new ProviderFailure('its answer is not a response');
      return { body: JSON.stringify({ ...value, id }), usage: responseUsage(get(value, 'usage')) };
    },
    error: () => null,
    streamed: () => new PassedEvents(id),
  };
}

/** Events with a response in them, the first of which is its beginning, and errors. */
const TELLING = /"response"\s*:\s*\{|"error"/;
/** Types of the last event. */
const ENDS: readonly unknown[] = [
  'response.completed',
  'response.incomplete',
  'response.failed',
  'response.cancelled',
  'error',
];

/** Events of the same protocol: they pass as they come, but for the id of the response. */
class PassedEvents implements StreamedAnswer {
  readonly #id: string;
  begun = false;
  #sequence = -1;
  #ended = false;
  usage: Usage | null = null;

  constructor(id: string) {
    this.#id = id;
  }

  push({ event, data, raw }: ServerSentEvent): Uint8Array | string {
    const bytes = Buffer.from(raw, 'latin1');
    if (data === null) return bytes;
    this.#sequence = Number(/"sequence_number"\s*:\s*(\d{1,15})/.exec(data)?.[1] ?? this.#sequence);
    if (this.begun && !TELLING.test(data)) return bytes;
    const value = jsonOf(Buffer.from(data, 'latin1').toString());
    if (!this.begun) this.#begin(value);
    if (ENDS.includes(get(value, 'type'))) this.#ended = true;
    const response = get(value, 'response');
    if (value === null || !isObject(response)) return bytes;
    this.usage = responseUsage(get(response, 'usage')) ?? this.usage;
    return `event: ${event}\ndata: ${JSON.stringify({ ...value, response: { ...response, id: this.#id } })}\n\n`;
  }

  #begin(value: Obj | null): void {
    const type = get(value, 'type');
    if (type === 'error') throw new ReportedError(completionError({ error: value }, 500));
    if (value === null) throw new ProviderFailure('its stream is not that of a response');
    this.begun = typeof type === 'string' && type.startsWith('response.');
  }

  end(rest: string): Uint8Array {
    if (!this.#ended) throw incompleteStream();
    return Buffer.from(rest, 'latin1');
  }

  error({ message, code }: ProviderError): string {
    const data = { type: 'error', sequence_number: this.#sequence + 1, code, message, param: null };
    return `event: error\ndata: ${JSON.stringify(data)}\n\n`;
  }
}

function jsonOf(text: string): Obj | null {
  try {
    const value = parseAsWritten(text);
    return isObject(value) && !nestsTooDeeply(value) ? value : null;
  } catch {
    return null;
  }
}

function toMessages(request: SurfaceRequest, settings: AiSettings): Translation {
  const { conversation, dropsReasoning } = readResponsesRequest(request.parsed);
  const { showsThinking } = conversation;
  const head = { id: newId(), created: Math.floor(Date.now() / 1000), request: request.parsed, showsThinking };
  return {
    path: '/messages',
    body: JSON.stringify(
      messageRequest(conversation, settings.maxTokens, settings.models.traitsOf('provider_messages', request.model)),
    ),
    warnings: [...storeWarnings(request), ...(dropsReasoning ? ['reasoning' as const] : [])],
    whole: (value) => {
      const message = readMessage(value);
      return { body: JSON.stringify(wholeResponse(head, message)), usage: message.usage };
    },
    error: (value, status) => chatError(messageError(value, status)),
    streamed: () => new TranslatedStream(new ResponseEvents(head)),
  };
}
