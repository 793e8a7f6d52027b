/** One request about files or batches to the one endpoint that has them, and its answer on the way to the client. */

import {
  get,
  type HttpStream,
  headerOf,
  type Obj,
  readWhole,
  StateUnavailable,
  writeWithBackpressure,
} from '../../../kit.ts';
import type { FilesContext } from './attempt-context.ts';
import { ProviderFailure } from './conversation/provider-failure.ts';
import { aiProblem } from './conversation/refusal.ts';
import { ANSWERED, type AttemptResult, errorBody, failureOf, refusalByProvider } from './endpoint-answer.ts';
import { type EndpointAttempt, traceEndpoint } from './endpoint-attempt.ts';
import { countBatchOnce } from './files/batch-count.ts';
import { bindIds, objectOf, withIds } from './files/client-answer.ts';
import { passedHeaders } from './provider-headers.ts';
import { TokenCount } from './token-count.ts';

/** Bytes of an object; metadata have 16 KiB at most. */
const MAX_OBJECT = 1 << 20;
/** Longest model name accepted, in characters. */
const MAX_MODEL = 256;

/** Rejects with ProviderFailure or HttpCallError if the provider fails. */
export async function askForFiles(context: FilesContext, attempt: EndpointAttempt): Promise<AttemptResult> {
  const { exchange, response, services, call, ids, request } = context;
  const { target, endpoint } = attempt.at;
  traceEndpoint(exchange, endpoint, `${call.surface}: ${target.name}`);
  const head = await attempt.head(services.http.open(callOf(context, attempt)));
  if (head.type !== 'usable') return head;
  const { answer } = head;
  if (answer.status >= 400) {
    // The provider names ids in its words.
    const text = withIds(Buffer.from(await errorBody(answer)).toString(), request.ids);
    return refusalByProvider(answer, attempt.at, text, null);
  }
  if (call.operation === 'content') return sendContent(context, answer);
  const value = objectOf(await readWhole(answer.body, MAX_OBJECT, () => new ProviderFailure('its answer is too long')));
  const body = bindIds(value, call.surface, ids);
  try {
    if (call.surface === 'batches') await countBatch(context, attempt, value);
  } catch (error) {
    if (!(error instanceof StateUnavailable)) throw error;
    const detail = 'The tokens of the batch cannot be counted at present. Try again.';
    const problem = aiProblem('state-unavailable', null, detail, { headers: ['retry-after', '1'] });
    await response.whole({ problem });
    return ANSWERED;
  }
  await response.whole({ status: 200, headers: passedHeaders(answer.headers, 'application/json'), body });
  return ANSWERED;
}

function callOf({ exchange, request }: FilesContext, { at }: EndpointAttempt) {
  const own = ['accept', '*/*', 'accept-encoding', 'identity', 'user-agent', 'gw'];
  return {
    method: request.method,
    url: at.endpoint.url(request.path),
    headers: [...request.headers, ...own, ...at.endpoint.headers],
    body: request.body,
    contentLength: headerOf(exchange.headers, 'content-length'),
    timeoutMs: at.headMs,
    exchange,
  };
}

/** As fast as the client takes it. Downloaded, and not shown: it is a consumer's, on the gateway's origin. */
async function sendContent({ exchange, response }: FilesContext, answer: HttpStream): Promise<AttemptResult> {
  const type = passedHeaders(answer.headers, 'application/octet-stream', true);
  const sink = await response.head(exchange, 200, [...type, 'content-disposition', 'attachment']);
  if (sink === null) {
    answer.cancel();
    return ANSWERED;
  }
  let bytes = 0;
  try {
    for await (const piece of answer.body) {
      await writeWithBackpressure(sink, piece, exchange);
      if (exchange.closed) break;
      bytes += piece.length;
    }
  } catch (error) {
    return { type: 'broken', failure: failureOf(error) };
  }
  if (!exchange.closed) sink.end();
  response.done(exchange, bytes);
  return ANSWERED;
}

/** Rejects with StateUnavailable. */
async function countBatch({ exchange, services }: FilesContext, { at }: EndpointAttempt, batch: Obj): Promise<void> {
  const { provider } = at.target;
  const usage = await countBatchOnce(batch, at.endpoint.baseUrl, services.reservations);
  if (usage === null) return;
  const model = get(batch, 'model');
  const count = TokenCount.begin(exchange, provider, typeof model === 'string' ? model.slice(0, MAX_MODEL) : '');
  count.succeeded(usage);
  count.completed();
  services.metrics.countTokens(provider, usage);
}
