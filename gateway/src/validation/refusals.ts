/** Problems for requests that do not match the API description. */
import type { Exchange } from '../exchange.ts';
import { type Problem, type ProblemError, problem } from '../problems.ts';
import type { ValidationReason } from '../telemetry/metric-table.ts';
import type { Verdict } from './helpers/validation-helpers.ts';
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
  return problem('validation-failed', 'The path is that of another operation if it is decoded or normalised.');
}

/** The problem for a request that takes too long to validate (docs/decisions.md#validation-in-helpers). */
export function pastDeadline(): Problem {
  const detail = 'The request takes longer to validate against the API description than is allowed.';
  return problem('validation-failed', detail);
}

/** The problem for a request that waits for its validation behind too many others. */
export function validationOverloaded(): Problem {
  return problem('overloaded', 'Too many requests wait to be validated. Try again.');
}

/** Returns the problem for a request whose schema takes too long to prepare: the log names the schema. */
export function notPrepared(): Problem {
  return problem('internal-error', 'The API description cannot be validated against.');
}

/** `reason`: null if the request is not at fault. */
export interface Refusal {
  readonly reason: ValidationReason | null;
  readonly problem: Problem;
}

/** Returns null if the parameters are valid. */
export function parameterRefusal(
  validator: ParameterValidator,
  exchange: Exchange,
  rawParams: readonly string[],
  all: boolean,
): Refusal | null | Promise<Refusal | null> {
  const verdict = validator.verdict(exchange, rawParams, all);
  return verdict instanceof Promise ? verdict.then(refusalOf) : refusalOf(verdict);
}

function refusalOf(verdict: Verdict): Refusal | null {
  if (verdict === null) return null;
  switch (verdict.kind) {
    case 'steps':
      return { reason: 'pattern-steps', problem: tooManySteps() };
    case 'deadline':
      return { reason: 'deadline', problem: pastDeadline() };
    case 'overloaded':
      return { reason: null, problem: validationOverloaded() };
    case 'unprepared':
      return { reason: null, problem: notPrepared() };
    case 'invalid': {
      const { errors } = verdict;
      return { reason: (errors[0]?.in ?? 'path') as ValidationReason, problem: invalid(errors) };
    }
  }
}

/** The problem for a request that does not match the spec; `errors` are shown in dev mode only. */
export function invalid(errors: readonly ProblemError[]): Problem {
  const parts = [...new Set(errors.map((error) => error.in))].join(', ');
  return problem('validation-failed', `The request does not match the API description (${parts}).`, { errors });
}
