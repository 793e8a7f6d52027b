/** Headers that announce a limit to clients: those of rate-limit (docs/reference/plugins.md#rate-limit). */
import type { BudgetResult, Exchange } from '../../../../kit.ts';

/** Rest of the tightest policy of this request; rate-limit and others agree on the headers by it. */
const TIGHTEST = 'rate_limit.remaining';
const ANNOUNCED = ['x-ratelimit-policy', 'x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'] as const;

export interface Limit {
  readonly policy: string;
  readonly quota: number;
  readonly window: number;
}

function policyOf({ policy, quota, window }: Limit): string {
  return `"${policy}";q=${quota};w=${window}`;
}

/** Headers of an allowed response, unless another policy of this request has less left. */
export function announce(exchange: Exchange, limit: Limit, { remaining, resetAt }: BudgetResult): void {
  const shown = exchange.context?.get(TIGHTEST);
  if (shown !== undefined && Number(shown) <= remaining) return;
  exchange.context ??= new Map();
  exchange.context.set(TIGHTEST, String(remaining));
  const values = [policyOf(limit), String(limit.quota), String(remaining), String(Math.ceil(resetAt))];
  stage(exchange, values);
}

/** Returns the headers of a refusal. Headers staged by an earlier policy are dropped. */
export function refusalHeaders(exchange: Exchange, limit: Limit, retryAfter: number): readonly string[] {
  stage(exchange, null);
  const retry = Math.max(1, Math.ceil(retryAfter));
  return [
    ...['ratelimit-policy', policyOf(limit), 'ratelimit', `"${limit.policy}";r=0;t=${retry}`],
    ...['retry-after', String(retry)],
  ];
}

function stage(exchange: Exchange, values: readonly string[] | null): void {
  exchange.response.staged ??= [];
  for (const [i, name] of ANNOUNCED.entries()) {
    exchange.response.staged.push({ op: values === null ? 'remove' : 'set', name, value: values?.[i] ?? '' });
  }
}
