/** `/v1/messages`: for clients of that protocol; its providers get what the client sent, and others cannot be asked for it. */
import type { ServerSentEvent } from '../../../server-sent-events.ts';
import { get } from '../../../spec/json.ts';
import type { ProviderError } from '../conversation/provider-failure.ts';
import { ProviderFailed } from '../conversation/provider-failure.ts';
import { errorType, refused } from '../conversation/refusal.ts';
import type { Usage } from '../conversation/usage.ts';
import { MessageEvents, readMessage } from '../protocols/messages-answer.ts';
import { bodyWith } from './request-body.ts';
import type { StreamedAnswer, Surface } from './surface.ts';

export const messages: Surface = {
  translate({ body, parsed }, provider, { maxTokens }) {
    if (provider !== 'provider_messages') throw noMessages();
    const limited = maxTokens === null || (get(parsed, 'max_tokens') ?? null) !== null;
    return {
      path: '/messages',
      body: bodyWith(body, parsed, limited ? {} : { max_tokens: maxTokens }),
      warnings: [],
      whole: (value, bytes) => ({ body: bytes, usage: readMessage(value).usage }),
      error: () => null,
      streamed: () => new PassedMessage(),
    };
  },
  error: messageError,
};

function noMessages() {
  const detail = 'The provider of this model is asked for chat completions, not for messages.';
  return refused('validation-failed', 'messages_not_supported_for_provider', detail, { param: 'model' });
}

function messageError({ status, message, code }: ProviderError): object {
  const type = status >= 500 ? 'api_error' : errorType(status);
  return { type: 'error', error: { type: code ?? type, message } };
}

/** Events pass as they come. */
class PassedMessage implements StreamedAnswer {
  readonly #events = new MessageEvents();

  get usage(): Usage | null {
    return this.#events.usage;
  }

  push(event: ServerSentEvent): Uint8Array {
    const { data, raw } = event;
    // What is none of the protocol ends the stream, as an error in it does.
    if (data !== null) this.#events.read({ ...event, data: Buffer.from(data, 'latin1').toString() });
    return Buffer.from(raw, 'latin1');
  }

  end(rest: string): Uint8Array {
    if (!this.#events.ended) throw new ProviderFailed('its stream ended before its answer was whole');
    return Buffer.from(rest, 'latin1');
  }

  error(error: ProviderError): string {
    return `event: error\ndata: ${JSON.stringify(messageError(error))}\n\n`;
  }
}
