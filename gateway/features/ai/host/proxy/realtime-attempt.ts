/** One handshake with one endpoint of a provider, and the session that it opens. */

import { type HeaderList, headerOf, messageOf, PROTOCOL, UpstreamHandshake } from '../../../kit.ts';
import type { AiServices, Asked } from './attempt-context.ts';
import { ProviderFailed } from './conversation/provider-failure.ts';
import { type AttemptAt, EndpointAttempt } from './endpoint-attempt.ts';
import { passedHandshake } from './realtime/surface.ts';
import { RealtimeSession } from './realtime-session.ts';
import type { AiSettings } from './targets/settings.ts';

export class RealtimeAttempt {
  readonly #asked: Asked;
  readonly #at: AttemptAt;
  readonly #settings: AiSettings;
  readonly #services: AiServices;
  readonly #attempt: EndpointAttempt;

  constructor(asked: Asked, at: AttemptAt, settings: AiSettings, services: AiServices) {
    this.#asked = asked;
    this.#at = at;
    this.#settings = settings;
    this.#services = services;
    this.#attempt = new EndpointAttempt(asked, at, services);
  }

  /**
   * Returns null if the session is open, or the client has another answer, or has left; otherwise nothing was sent to
   * it.
   */
  run(): Promise<ProviderFailed | null> {
    return this.#attempt.run(() => this.#open());
  }

  async #open(): Promise<void> {
    const { exchange, response } = this.#asked;
    const { endpoint, headMs } = this.#at;
    const passed = passedHandshake(exchange);
    // Messages must be readable for counting, so compression is not offered.
    const handshake = new UpstreamHandshake({ headers: passed }, true);
    const headers = [...passed, 'user-agent', 'gw', ...endpoint.headers];
    handshake.apply(headers);
    const query = String(new URLSearchParams({ model: this.#asked.request.model }));
    const call = { method: 'GET', url: endpoint.url('/realtime', query), headers, timeoutMs: headMs, exchange };
    const answer = await this.#attempt.settled(this.#services.http.upgrade(call, handshake));
    if (!('connection' in answer)) {
      if (answer.status < 300) throw new ProviderFailed(`it answered ${answer.status}, and opened no WebSocket`);
      return this.#attempt.refused(answer.status, answer.headers, answer.body, null);
    }
    const { count } = this.#attempt;
    count.succeeded(null);
    const session = RealtimeSession.of(exchange);
    session.begin(count, {
      counted: (usage) => this.#services.metrics.spoken(this.#at.provider, usage),
      uncounted: (why) => this.#uncounted(why),
      failed: (error) => this.#services.log('error', `a response could not be settled: ${messageOf(error)}`, exchange),
    });
    await response.relay(exchange, {
      headers: chosenProtocol(answer.headers),
      connection: answer.connection,
      limits: this.#settings.realtime,
      read: (frames) => session.read(frames),
      opened: (close) => session.opened(close),
    });
  }

  #uncounted(why: string): void {
    const { provider, endpoint } = this.#at;
    this.#services.metrics.uncounted(provider);
    this.#services.log('warn', `${provider} at ${endpoint.host}: ${why}`, this.#asked.exchange);
  }
}

/** Others of a provider's headers name its account. */
function chosenProtocol(headers: HeaderList): HeaderList {
  const chosen = headerOf(headers, PROTOCOL);
  return chosen === undefined ? [] : [PROTOCOL, chosen];
}
