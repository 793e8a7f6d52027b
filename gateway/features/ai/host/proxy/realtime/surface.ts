/** `/v1/realtime`: a WebSocket to a provider that has sessions as OpenAI's API describes them (docs/decisions.md#ai-realtime). */

import { type Exchange, type HeaderList, joinedHeader, PROTOCOL } from '../../../../kit.ts';
import { refusal } from '../conversation/refusal.ts';
import type { Provider } from '../targets/provider.ts';

/** Throws AiRefusal if the provider has no realtime sessions. */
export function refuseUnlessRealtime(provider: Provider): void {
  if (provider === 'provider_chat') return;
  const detail = 'The provider of this model has no realtime sessions.';
  throw refusal('validation-failed', 'realtime_not_supported_for_provider', detail, { param: 'model' });
}

/** Header and sub-protocol by which clients ask for events as they were before the API was generally available. */
const BETA = 'openai-beta';
const BETA_VALUE = /^realtime=v\d{1,3}$/;
const PASSED_PROTOCOL = /^(?:realtime|openai-beta\.realtime-v\d{1,3})$/;

/**
 * Returns the headers of the client's handshake that a provider receives. Sub-protocols of browsers carry the client's
 * credential and account (`openai-insecure-api-key.…`) and stay with the gateway.
 */
export function passedHandshake({ headers }: Exchange): HeaderList {
  const offered = (joinedHeader(headers, PROTOCOL) ?? '').split(',').map((each) => each.trim());
  const protocols = offered.filter((each) => PASSED_PROTOCOL.test(each)).join(', ');
  const beta = joinedHeader(headers, BETA) ?? '';
  return [...(protocols === '' ? [] : [PROTOCOL, protocols]), ...(BETA_VALUE.test(beta) ? [BETA, beta] : [])];
}
