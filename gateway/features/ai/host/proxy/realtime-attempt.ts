/** One handshake with one endpoint of a provider, and the session that it opens. */

import { type HeaderList, headerOf, messageOf, PROTOCOL, UpstreamHandshake } from '../../../kit.ts';
import type { RealtimeContext } from './attempt-context.ts';
import { ProviderFailure } from './conversation/provider-failure.ts';
import { ANSWERED, type AttemptResult, failed, refusalByProvider } from './endpoint-answer.ts';
import type { EndpointAttempt } from './endpoint-attempt.ts';
import { passedHandshake } from './realtime/surface.ts';
import { RealtimeSession } from './realtime-session.ts';
import { TokenCount } from './token-count.ts';

/** Resolves when the session is open or another result is there. Rejects with HttpCallError if the provider fails. */
export async function openSession(context: RealtimeContext, attempt: EndpointAttempt): Promise<AttemptResult> {
  const { exchange, response, services, settings, request, model } = context;
  const { target, endpoint, headMs: timeoutMs } = attempt.at;
  const count = TokenCount.begin(exchange, target.provider, model);
  const passed = passedHandshake(exchange);
  // Messages must be readable for counting, so compression is not offered.
  const handshake = new UpstreamHandshake({ headers: passed }, true);
  const headers = [...passed, 'user-agent', 'gw', ...endpoint.headers];
  handshake.apply(headers);
  const url = endpoint.url('/realtime', String(new URLSearchParams({ model: request.model })));
  const head = await attempt.head(
    services.http.upgrade({ method: 'GET', url, headers, timeoutMs, exchange }, handshake),
  );
  if (head.type !== 'usable') return head;
  const { answer } = head;
  if (!('connection' in answer)) {
    if (answer.status >= 400) return refusalByProvider(answer, attempt.at, answer.body, null);
    return failed(new ProviderFailure(`it answered ${answer.status}, and opened no WebSocket`));
  }
  count.succeeded(null);
  const session = RealtimeSession.of(exchange);
  session.begin(count, {
    counted: (usage) => services.metrics.countRealtimeTokens(target.provider, usage),
    uncounted(why) {
      services.metrics.countUncounted(target.provider);
      attempt.log('warn', `: ${why}`);
    },
    failed: (error) => services.log('error', `a response could not be settled: ${messageOf(error)}`, exchange),
  });
  await response.relay(exchange, {
    headers: chosenProtocol(answer.headers),
    connection: answer.connection,
    limits: settings.realtime,
    read: (frames) => session.read(frames),
    opened: (close) => session.opened(close),
  });
  return ANSWERED;
}

/** Others of a provider's headers name its account. */
function chosenProtocol(headers: HeaderList): HeaderList {
  const chosen = headerOf(headers, PROTOCOL);
  return chosen === undefined ? [] : [PROTOCOL, chosen];
}
