/** What requests are told that do not match the API description. */
import type { Exchange } from '../exchange.ts';
import { StepsExceeded } from '../patterns/step-budget.ts';
import { type Problem, type ProblemError, problem } from '../problems.ts';
import type { ValidationReason } from '../telemetry/metric-table.ts';
import type { ParameterValidator } from './parameters.ts';

/**
 * The problem for a request that patterns of the API description cannot be matched against within the limit
 * (docs/decisions.md#patterns-bounded).
 */
export function tooManySteps(): Problem {
  const detail = 'The request takes more steps to validate against the API description than are allowed.';
  return problem('validation-failed', detail);
}

/**
 * The problem for a path that an upstream might take for that of another operation (docs/decisions.md#matched-is-sent).
 */
export function otherPath(): Problem {
  return problem('validation-failed', 'The path is that of another operation where it is decoded or normalised.');
}

/** Null where the parameters hold. */
export function parameterRefusal(
  validator: ParameterValidator,
  x: Exchange,
  rawParams: readonly string[],
  all: boolean,
): { readonly reason: ValidationReason; readonly problem: Problem } | null {
  try {
    const errors = validator.validate(x, rawParams, all);
    return errors && { reason: (errors[0]?.in ?? 'path') as ValidationReason, problem: invalid(errors) };
  } catch (error) {
    if (!(error instanceof StepsExceeded)) throw error;
    return { reason: 'pattern-steps', problem: tooManySteps() };
  }
}

/** The problem for a request that does not match the spec; `errors` are shown in dev mode only. */
export function invalid(errors: readonly ProblemError[]): Problem {
  const parts = [...new Set(errors.map((error) => error.in))].join(', ');
  return problem('validation-failed', `The request does not match the API description (${parts}).`, { errors });
}
