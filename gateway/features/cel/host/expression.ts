/** Conditions on requests, in the Common Expression Language: parsed, checked and planned once, evaluated often. */
import { type CelMap, CelScalar, isCelError, plan } from '@bufbuild/cel';
import { boundMacros } from './bound-macros.ts';
import { check, type Reads } from './check.ts';
import { meteredEnvironment } from './environment.ts';
import { CostExceeded, Meter } from './meter.ts';
import { LiteralPatterns } from './patterns.ts';
import { PartUnreadable } from './request-view.ts';
import { type Expr, ExpressionError, fail, parseExpression, placeAt, placed } from './syntax.ts';

export interface Evaluation {
  /** Null without a result: see `error`. */
  readonly matches: boolean | null;
  /** Why, with the place in the expression and without values of the request. */
  readonly error: string | null;
  /** Steps that it took, of at most `MOST_STEPS`. */
  readonly steps: number;
  /** The evaluation would have taken more steps. */
  readonly isTooLong: boolean;
}

export interface Condition extends Reads {
  evaluate(request: CelMap): Evaluation;
}

/** Throws ExpressionError if the text is not an expression, fails for every request, or is not a condition. */
export function compileCondition(text: string): Condition {
  const parsed = parseExpression(text);
  const meter = new Meter();
  return placed(text, parsed, () => {
    const { expr } = parsed;
    if (!expr) throw new ExpressionError('there is no expression', 1, 1);
    const patterns = new LiteralPatterns(expr);
    const env = meteredEnvironment(meter, patterns.matches(meter));
    const { type, parts, headers } = check(expr, env);
    if (type !== CelScalar.BOOL && type !== CelScalar.DYN)
      fail(expr.id, `a condition is a bool, and this is a value of type ${type}`);
    const evaluate = plan(env, boundMacros(expr));
    const positions = parsed.sourceInfo?.positions ?? {};
    const placeOf = (id: bigint | undefined) => {
      const { line, column } = placeAt(text, positions[(id ?? expr.id).toString()] ?? 0);
      return `line ${line}, column ${column}`;
    };
    return {
      parts,
      headers,
      evaluate(request) {
        meter.start();
        const result = evaluate({ request });
        const steps = meter.spent;
        const isTooLong = meter.exceeded;
        if (isTooLong) return { matches: null, error: new CostExceeded().message, steps, isTooLong };
        if (typeof result === 'boolean') return { matches: result, error: null, steps, isTooLong };
        if (!isCelError(result)) return { matches: null, error: 'the result is not a bool', steps, isTooLong };
        return { matches: null, error: `${placeOf(result.exprId)}: ${reasonOf(result)}`, steps, isTooLong };
      },
    };
  });
}

/** Without values: they are the client's. Types and names in the expression are not. */
function reasonOf(error: { readonly message: string; readonly cause?: unknown }): string {
  if (error.cause instanceof PartUnreadable) return error.cause.message;
  if (/^found no matching overload|^type mismatch/.test(error.message)) return error.message;
  if (/^(field not found|no such key|index .*out of bounds|unresolved|invalid_argument)/.test(error.message))
    return 'there is no such element';
  const known =
    /divide by zero|modulus by zero|(int|uint) overflow|the text is not an? [a-z ]+|a pattern must be a literal in the expression/.exec(
      error.message,
    );
  return known?.[0] ?? 'it cannot be computed';
}

export type { Expr };
export { ExpressionError };
