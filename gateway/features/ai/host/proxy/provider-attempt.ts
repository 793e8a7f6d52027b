/** One request to one endpoint of a provider, and its answer on the way to the client. */

import {
  type HeaderList,
  type HttpAnswer,
  headerOf,
  isNestedWithin,
  isQuickJson,
  type JsonScan,
  jsonText,
  MOST_NESTING,
  messageOf,
  parseAsWritten,
  scanJson,
} from '../../../kit.ts';
import type { TranslatedContext } from './attempt-context.ts';
import { type ProviderError, ProviderFailure } from './conversation/provider-failure.ts';
import { aiProblem } from './conversation/refusal.ts';
import {
  ANSWERED,
  type AnswerHead,
  type AttemptResult,
  errorBody,
  failed,
  LIMITED,
  refusalByProvider,
} from './endpoint-answer.ts';
import type { EndpointAttempt } from './endpoint-attempt.ts';
import { passedHeaders, warningHeaders } from './provider-headers.ts';
import { ProviderStream } from './provider-stream.ts';
import { problemFor } from './surfaces/problem-for.ts';
import type { Provider } from './targets/provider.ts';
import { TokenCount } from './token-count.ts';
import { TokenEstimate } from './token-estimate.ts';

/** Rejects with ProviderFailure, HttpCallError or ReportedError if the provider fails. */
export async function askForWhole(context: TranslatedContext, attempt: EndpointAttempt): Promise<AttemptResult> {
  const { exchange, response, services, translation } = context;
  const { target, headMs: timeoutMs } = attempt.at;
  const count = TokenCount.begin(exchange, target.provider, context.model);
  const head = await attempt.head(services.http.call({ ...callOf(context, attempt), timeoutMs, holds: true }));
  if (head.type !== 'usable') return head;
  const { answer } = head;
  exchange.onClose(() => answer.holding?.release());
  if (answer.status >= 400) return refusalFor(context, attempt, answer, answer.body);
  if (answer.holding?.take(affordable(answer.body).heapBytes) === false) {
    const overloaded = aiProblem('overloaded', null, 'The gateway has no room for the answer.');
    await response.whole({ problem: problemFor(exchange, overloaded) });
    return ANSWERED;
  }
  const { body, usage } = translation.whole(jsonOf(answer), answer.body);
  count.succeeded(usage);
  count.completed();
  if (usage === null) TokenEstimate.of(exchange)?.answered(body.length);
  else services.metrics.countTokens(target.provider, usage);
  const headers = headersOf(context, answer, target.provider, 'application/json');
  await response.whole({ status: 200, headers, body });
  return ANSWERED;
}

/** The same. */
export async function askForStream(context: TranslatedContext, attempt: EndpointAttempt): Promise<AttemptResult> {
  const { exchange, services, settings } = context;
  const { target, headMs: headTimeoutMs } = attempt.at;
  const { timeoutMs } = settings;
  const count = TokenCount.begin(exchange, target.provider, context.model);
  const head = await attempt.head(services.http.open({ ...callOf(context, attempt), timeoutMs, headTimeoutMs }));
  if (head.type !== 'usable') return head;
  const { answer } = head;
  if (answer.status >= 400) return refusalFor(context, attempt, answer, await errorBody(answer));
  if (!/^text\/event-stream\s*(;|$)/i.test(headerOf(answer.headers, 'content-type') ?? '')) {
    answer.cancel();
    return failed(new ProviderFailure('it answered without a stream, which was asked for'));
  }
  const headers = headersOf(context, answer, target.provider, 'text/event-stream');
  await new ProviderStream(context, attempt, count).run(answer.body, headers);
  if (count.usage !== null) services.metrics.countTokens(target.provider, count.usage);
  return ANSWERED;
}

function callOf({ exchange, request, translation }: TranslatedContext, { at }: EndpointAttempt) {
  const { path, headers = [], body } = translation;
  const accept = request.stream ? 'text/event-stream' : 'application/json';
  return {
    method: 'POST',
    url: at.endpoint.url(path),
    headers: [
      ...['content-type', 'application/json', 'accept', accept, 'accept-encoding', 'identity', 'user-agent', 'gw'],
      ...headers,
      ...at.endpoint.headers,
    ],
    body,
    exchange,
  };
}

/** Warnings are counted with each answer. */
function headersOf(
  { services, translation }: TranslatedContext,
  { headers }: AnswerHead,
  provider: Provider,
  type: string,
): HeaderList {
  const { warnings } = translation;
  for (const each of warnings) services.metrics.countWarning(each, provider);
  return [...passedHeaders(headers, type), ...warningHeaders(warnings)];
}

/** The provider refuses the request: its error becomes one of the surface. */
function refusalFor(
  { translation }: TranslatedContext,
  { at }: EndpointAttempt,
  answer: AnswerHead,
  body: Uint8Array,
): AttemptResult {
  return refusalByProvider(answer, at, body, translation.error(parsedBody(body), answer.status));
}

/** The provider reports an error under a status that says success. */
export function reportedResult(
  { surface }: TranslatedContext,
  attempt: EndpointAttempt,
  error: ProviderError,
): AttemptResult {
  const { status, message } = error;
  if (attempt.willTryAnotherAfter(status, null)) return LIMITED;
  if (status >= 500) return failed(new ProviderFailure(`it answered with an error: ${message}`, status));
  const body = JSON.stringify(surface.error(error));
  return { type: 'refused', refusal: { status, headers: ['content-type', 'application/json'], body } };
}

function jsonOf({ body }: HttpAnswer): unknown {
  let value: unknown;
  try {
    value = parseAsWritten(jsonText(body));
  } catch (error) {
    throw new ProviderFailure(`its answer is not valid: ${messageOf(error)}`);
  }
  if (!isNestedWithin(body, MOST_NESTING))
    throw new ProviderFailure(`its answer is nested more than ${MOST_NESTING} levels deep`);
  return value;
}

/** Throws ProviderFailure if parsing would delay other requests. */
function affordable(body: Uint8Array): JsonScan {
  const scan = scanJson(body);
  if (scan.isTooCostly)
    throw new ProviderFailure('its answer takes too long to parse: it is too large, or has too many values');
  return scan;
}

/** Returns null if the body takes too long to parse or is not JSON, as from proxies in front of providers. */
function parsedBody(body: Uint8Array): unknown {
  if (!isQuickJson(body)) return null;
  try {
    return JSON.parse(jsonText(body));
  } catch {
    return null;
  }
}
