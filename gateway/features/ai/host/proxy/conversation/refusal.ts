/** Reasons for which the gateway answers a request itself, without a provider. */
import { type Problem, type ProblemName, problem } from '../../../../kit.ts';

/** Thrown; its problem is the answer. */
export class AiRefusal extends Error {
  readonly problem: Problem;

  constructor(refusal: Problem) {
    super(refusal.detail ?? refusal.title);
    this.problem = refusal;
  }
}

/** `param`: the member of the request that it is about. */
export interface RefusalOptions {
  readonly param?: string;
  readonly headers?: readonly string[];
}

/**
 * A problem document that clients of the surfaces understand as well: they read `error`
 * (docs/decisions.md#ai-problems).
 */
export function aiProblem(
  name: ProblemName,
  code: string | null,
  detail: string,
  { param, headers }: RefusalOptions = {},
): Problem {
  const base = problem(name, detail, headers ? { headers } : {});
  const error = { message: detail, type: errorType(base.status), param: param ?? null, code };
  return { ...base, members: { ...(code === null ? {} : { code }), error } };
}

export function refusal(name: ProblemName, code: string, detail: string, options?: RefusalOptions): AiRefusal {
  return new AiRefusal(aiProblem(name, code, detail, options));
}

/** Refuses an invalid member. */
export function invalid(param: string, must: string): AiRefusal {
  return refusal('validation-failed', 'invalid_request', `${param} must be ${must}.`, { param });
}

/** Refuses a request that the provider's protocol cannot express. */
export function unsupported(param: string, what: string): AiRefusal {
  return refusal('validation-failed', 'unsupported_for_provider', `The provider of this model does not take ${what}.`, {
    param,
  });
}

/** `error.type` of the surfaces, by the status of an answer. */
export function errorType(status: number): string {
  if (status === 401) return 'authentication_error';
  if (status === 403) return 'permission_error';
  if (status === 404) return 'not_found_error';
  if (status === 429) return 'rate_limit_error';
  return status >= 500 ? 'server_error' : 'invalid_request_error';
}
