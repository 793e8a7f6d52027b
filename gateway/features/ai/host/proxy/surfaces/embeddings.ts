/** `/v1/embeddings`: providers of chat completions get the client's request; those of messages have no embeddings. */

import { get } from '../../../../kit.ts';
import { ProviderFailure } from '../conversation/provider-failure.ts';
import { invalid, refusal } from '../conversation/refusal.ts';
import { chatUsage } from '../conversation/usage.ts';
import { refuseError } from '../protocols/chat-answer.ts';
import { chatError } from './chat-answer.ts';
import type { Surface } from './surface.ts';

export const embeddings: Surface = {
  translate({ body, stream }, provider) {
    if (provider === 'provider_messages') throw noEmbeddings();
    if (stream) throw invalid('stream', 'false: embeddings do not stream');
    return {
      path: '/embeddings',
      body,
      warnings: [],
      whole(value, bytes) {
        refuseError(value);
        if (!Array.isArray(get(value, 'data'))) throw new ProviderFailure('its answer has no embeddings');
        return { body: bytes, usage: chatUsage(get(value, 'usage')) };
      },
      error: () => null,
      streamed() {
        throw new Error('embeddings do not stream');
      },
    };
  },
  error: chatError,
};

function noEmbeddings() {
  const detail = 'The provider of this model has no embeddings.';
  return refusal('validation-failed', 'embeddings_not_supported_for_provider', detail, { param: 'model' });
}
