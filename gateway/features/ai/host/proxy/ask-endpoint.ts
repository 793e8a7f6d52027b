/** Asks one endpoint of a provider, and sends its answer to the client. */

import type { AttemptContext, EndpointTarget } from './attempt-context.ts';
import { ReportedError } from './conversation/provider-failure.ts';
import { credentialProblem } from './conversation/provider-problems.ts';
import { type AttemptResult, failed, failureOf, type ProviderRefusal } from './endpoint-answer.ts';
import { EndpointAttempt } from './endpoint-attempt.ts';
import { askForFiles } from './files-attempt.ts';
import { askForStream, askForWhole, reportedResult } from './provider-attempt.ts';
import { openSession } from './realtime-attempt.ts';
import { problemFor } from './surfaces/problem-for.ts';
import { TokenCount } from './token-count.ts';

export async function askEndpoint(context: AttemptContext, at: EndpointTarget): Promise<AttemptResult> {
  const attempt = new EndpointAttempt(context, at);
  const open = attempt.begin();
  if (open !== null) return open;
  const result = await ask(context, attempt).catch((error: unknown) => resultOf(error, context, attempt));
  if (result.type === 'refused') await sendRefusal(context, attempt, result.refusal);
  attempt.end(result);
  return result;
}

/** Rejects with ProviderFailure, HttpCallError or ReportedError if the provider fails. */
async function ask(context: AttemptContext, attempt: EndpointAttempt): Promise<AttemptResult> {
  switch (context.kind) {
    case 'files':
      return askForFiles(context, attempt);
    case 'realtime':
      return openSession(context, attempt);
    case 'translated':
      return context.request.stream ? askForStream(context, attempt) : askForWhole(context, attempt);
  }
}

/** Rethrows errors that do not come from the provider. */
function resultOf(error: unknown, context: AttemptContext, attempt: EndpointAttempt): AttemptResult {
  if (error instanceof ReportedError && context.kind === 'translated')
    return reportedResult(context, attempt, error.error);
  return failed(failureOf(error));
}

/** Logs a refusal of the gateway's credential for the operator. */
function sendRefusal(
  { exchange, response }: AttemptContext,
  attempt: EndpointAttempt,
  refusal: ProviderRefusal,
): Promise<void> {
  TokenCount.of(exchange)?.failed();
  const problem = credentialProblem(refusal.status);
  if (problem === null) return response.whole(refusal);
  attempt.log('error', ` refuses the credential of the gateway: ${refusal.status}`);
  return response.whole({ problem: problemFor(exchange, problem) });
}
