/** An endpoint's answer, as its circuit breaker and its health see it. */

import {
  type Exchange,
  type HeaderList,
  type Holding,
  HttpCallError,
  type HttpStream,
  headerOf,
  readWhole,
  retryAfterMs,
} from '../../../kit.ts';
import { ProviderFailed } from './conversation/provider-failure.ts';
import type { AiMetrics, EndpointOutcome } from './metrics.ts';
import type { Endpoint } from './targets/endpoint.ts';

/** Longest error of a provider that is read, in bytes; longer bodies are ignored. */
const MAX_ERROR = 1 << 20;
/** Failures after which a provider is given time, as an upstream is (docs/reference/gateway.md#circuit-breaker). */
const COUNTED: readonly string[] = ['failed', 'timeout'];
/** Status of a provider that has not answered. */
export const NO_ANSWER = 502;

/** The head of an answer; `cancel` or `holding`: ends it unread. */
export interface AnswerHead {
  readonly status: number;
  readonly headers: HeaderList;
  readonly holding?: Holding;
  cancel?(): void;
}

/** Throws the error of `answering`. Failures that a client causes, by leaving or by its body, do not count. */
export async function endpointAnswer<A extends AnswerHead>(
  answering: Promise<A>,
  { health, host }: Endpoint,
  exchange: Exchange,
  metrics: AiMetrics,
): Promise<A> {
  const { breaker } = health;
  let answer: A;
  try {
    answer = await answering;
  } catch (error) {
    const isOurs = exchange.closed || Boolean(exchange.bodyStream?.errored);
    if (isOurs || !(error instanceof HttpCallError) || !COUNTED.includes(error.failure))
      breaker.abandoned(exchange.clientIp);
    else if (breaker.failed(exchange.clientIp)) metrics.broke(host);
    throw error;
  }
  breaker.succeeded();
  health.told(answer.headers);
  return answer;
}

/** Throws ProviderFailed for an answer that another endpoint may give better. */
export function usableAnswer<A extends AnswerHead>(answer: A): A {
  const { status, headers } = answer;
  if (status < 300 || (status >= 400 && status < 500)) return answer;
  leave(answer);
  const waitMs = retryAfterMs(headerOf(headers, 'retry-after'));
  throw new ProviderFailed(`it answered ${status}`, status, waitMs === null ? null : Math.ceil(waitMs / 1000));
}

export function leave(answer: AnswerHead): void {
  answer.cancel?.();
  answer.holding?.release();
}

export function errorBody({ body }: HttpStream): Promise<Uint8Array> {
  return readWhole(body, MAX_ERROR, () => new ProviderFailed(`its error has more than ${MAX_ERROR} bytes`));
}

export function outcomeOf(status: number, failed: ProviderFailed | null): EndpointOutcome {
  if (status === 429) return 'limited';
  return failed === null ? 'answered' : 'failed';
}

/** Returns the provider's failure for a failed call. */
export function failureOf(error: HttpCallError): ProviderFailed {
  return new ProviderFailed(error.message, error.failure === 'timeout' ? 504 : NO_ANSWER);
}
