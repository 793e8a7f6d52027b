/** Sends one request to one target: asks its endpoints one after another, until one answers. */
import { askEndpoint } from './ask-endpoint.ts';
import type { TargetContext } from './attempt-context.ts';
import { ProviderFailure } from './conversation/provider-failure.ts';
import { aiProblem } from './conversation/refusal.ts';
import { traceEndpoint } from './endpoint-attempt.ts';
import { problemFor } from './surfaces/problem-for.ts';
import { TargetTries } from './targets/target-tries.ts';
import type { Target } from './targets/targets.ts';

/** Returns null if the client has an answer, or has left; otherwise nothing was sent to it. */
export async function askTarget(context: TargetContext, target: Target): Promise<ProviderFailure | null> {
  const { exchange, request, settings, why } = context;
  const tries = new TargetTries(target, request.model, settings.timeoutMs);
  while (!exchange.closed) {
    const choice = tries.next();
    if (choice === null) break;
    const { endpoint } = choice;
    traceEndpoint(exchange, endpoint, `${why}: ${target.name}, ${choice.why}`);
    const result = await askEndpoint(context, { target, endpoint, headMs: tries.leftMs, tries });
    if (result.type === 'failed') tries.failure = result.failure;
    else if (result.type !== 'limited') return null;
  }
  if (exchange.closed) return tries.failure ?? new ProviderFailure('the client has gone');
  if (tries.failure !== null) return tries.failure;
  const seconds = target.retryAfter(request.model);
  if (tries.hasOpenBreaker) return new ProviderFailure('circuit breaker open', 503, seconds);
  await answerLimited(context, seconds);
  return null;
}

/** All endpoints are rate-limited, which does not trigger `fallback`. */
function answerLimited({ exchange, response }: TargetContext, seconds: number): Promise<void> {
  const detail = 'The quotas of the providers of this model are used up; Retry-After says when to try again.';
  const limited = aiProblem('rate-limited', 'provider_rate_limited', detail, {
    headers: ['retry-after', String(seconds)],
  });
  return response.whole({ problem: problemFor(exchange, limited) });
}
