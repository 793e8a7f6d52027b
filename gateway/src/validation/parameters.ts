/** Validates the parameters of one operation; made at load, so that a request pays only for what is declared. */
import type { Parameter } from '../artifact/format.ts';
import { type Exchange, joinedHeader } from '../exchange.ts';
import type { ProblemError } from '../problems.ts';
import { describeErrors, type Schemas, type Validator } from './schemas.ts';
import { MALFORMED, type Pairs, readPairs, readText, splitCookies, splitQuery } from './styles.ts';

/** Where and why; the first `in` is the metric's reason. */
export type ParameterErrors = readonly ProblemError[];

interface Check {
  readonly parameter: Parameter;
  readonly validate: Validator | null;
}

/** Types that need no schema to be checked: text is text. */
function anyTextFits({ types, schema }: Parameter): boolean {
  return schema === undefined && (types.length === 0 || types.includes('string'));
}

export class ParameterValidator {
  readonly #path: readonly (Check & { readonly index: number })[];
  readonly #query: readonly Check[];
  readonly #header: readonly Check[];
  readonly #cookie: readonly Check[];

  constructor(parameters: readonly Parameter[], paramNames: readonly string[], schemas: Schemas) {
    const check = (parameter: Parameter): Check => ({
      parameter,
      validate: anyTextFits(parameter) || !parameter.schema ? null : schemas.validator(parameter.schema),
    });
    const of = (part: Parameter['in']) => parameters.filter((each) => each.in === part).map(check);
    this.#path = of('path').map((each) => ({ ...each, index: paramNames.indexOf(each.parameter.name) }));
    this.#query = of('query');
    this.#header = of('header');
    this.#cookie = of('cookie');
  }

  /** `rawParams`: path parameters still encoded. Null where all hold; with `all` every error, else the first. */
  validate(x: Exchange, rawParams: readonly string[], all: boolean): ParameterErrors | null {
    let errors: ProblemError[] | null = null;
    const found = (more: ProblemError[] | null): boolean => {
      if (more) errors = errors ? [...errors, ...more] : more;
      return more !== null && !all;
    };
    for (const each of this.#path) {
      const raw = each.index < 0 ? undefined : rawParams[each.index];
      if (found(verify(each, raw === undefined ? undefined : readText(each.parameter, raw, true)))) return errors;
    }
    if (this.#query.length > 0) {
      const pairs = x.query === undefined ? [] : splitQuery(x.query);
      for (const each of this.#query) if (found(verifyPair(each, pairs, true))) return errors;
    }
    for (const each of this.#header) {
      const raw = joinedHeader(x.headers, each.parameter.name);
      if (found(verify(each, raw === undefined ? undefined : readText(each.parameter, raw, false)))) return errors;
    }
    if (this.#cookie.length > 0) {
      const pairs = splitCookies(joinedHeader(x.headers, 'cookie') ?? '');
      for (const each of this.#cookie) if (found(verifyPair(each, pairs, false))) return errors;
    }
    return errors;
  }
}

function verifyPair(check: Check, pairs: Pairs, plus: boolean): ProblemError[] | null {
  const { parameter } = check;
  if (parameter.allow_empty_value && pairs.some(([name, value]) => name === parameter.name && value === ''))
    return null;
  return verify(check, readPairs(parameter, pairs, plus));
}

function verify({ parameter, validate }: Check, value: unknown): ProblemError[] | null {
  const { name, in: part } = parameter;
  if (value === undefined) return parameter.required ? [{ in: part, field: name, reason: 'is required' }] : null;
  if (value === MALFORMED) {
    return [{ in: part, field: name, reason: `is not written in style "${parameter.style}", or badly encoded` }];
  }
  const errors = validate?.(value) ?? null;
  return errors ? describeErrors(errors, part, name) : null;
}
