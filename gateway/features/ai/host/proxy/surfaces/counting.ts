/**
 * `/v1/messages/count_tokens`: no answer is generated. Providers of messages count themselves; for others it is
 * estimated.
 */

import { get, plainNumber } from '../../../../kit.ts';
import { ProviderFailure } from '../conversation/provider-failure.ts';
import { invalid, refusal } from '../conversation/refusal.ts';
import { refuseReport } from '../protocols/messages-answer.ts';
import { betaHeaders } from './messages.ts';
import { messageErrorBody } from './messages-answer.ts';
import type { Surface } from './surface.ts';

export const counting: Surface = {
  translate({ body, stream, beta }, provider) {
    if (provider !== 'provider_messages') throw notCounted();
    if (stream) throw invalid('stream', 'false: counts do not stream');
    return {
      path: '/messages/count_tokens',
      body,
      warnings: [],
      headers: betaHeaders(beta),
      whole(value, bytes) {
        refuseReport(value);
        if (typeof plainNumber(get(value, 'input_tokens')) !== 'number')
          throw new ProviderFailure('its answer has no count');
        return { body: bytes, usage: null };
      },
      error: () => null,
      streamed() {
        throw new Error('counts do not stream');
      },
    };
  },
  error: messageErrorBody,
};

/** Fallbacks skip such a provider. */
function notCounted() {
  const detail = 'The provider of this model does not count tokens.';
  return refusal('validation-failed', 'counting_not_supported_for_provider', detail, { param: 'model' });
}
