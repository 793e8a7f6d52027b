/** Validates the parameters of one operation; made at load, so that a request pays only for what is declared. */
import type { Parameter } from '../artifact/format.ts';
import { type Exchange, joinedHeader } from '../exchange.ts';
import { type StepBudget, StepsExceeded } from '../patterns/step-budget.ts';
import type { ProblemError } from '../problems.ts';
import { parseTemplate } from '../router/template.ts';
import { ContentRules } from './body.ts';
import { PathSplits } from './path-splits.ts';
import { describeErrors, type Schemas, type Validator } from './schemas.ts';
import { MALFORMED, type Pairs, readPairs, readText, splitCookies, splitQuery } from './styles.ts';
import { decode } from './text.ts';

const URLENCODED = 'application/x-www-form-urlencoded';

/** Where and why; the first `in` is the metric's reason. */
export type ParameterErrors = readonly ProblemError[];

interface Check {
  readonly parameter: Parameter;
  readonly validate: Validator | null;
}

/** A parameter without a schema is text, and text is text. */
function validatorOf({ style, content_type, schema }: Parameter, schemas: Schemas): Validator | null {
  if (!schema) return null;
  return style === 'deepObject' && content_type === undefined
    ? schemas.typedValidator(schema)
    : schemas.validator(schema);
}

export class ParameterValidator {
  readonly #path: readonly (Check & { readonly index: number })[];
  readonly #query: readonly Check[];
  readonly #querystring: readonly WholeQuery[];
  readonly #header: readonly Check[];
  readonly #cookie: readonly Check[];
  readonly #steps: StepBudget;
  readonly #splits: PathSplits | null;

  /** `path`: the template. */
  constructor(parameters: readonly Parameter[], path: string, schemas: Schemas) {
    const { names: paramNames } = parseTemplate(path);
    const check = (parameter: Parameter): Check => ({ parameter, validate: validatorOf(parameter, schemas) });
    const of = (part: Parameter['in']) => parameters.filter((each) => each.in === part).map(check);
    this.#path = of('path').map((each) => ({ ...each, index: paramNames.indexOf(each.parameter.name) }));
    this.#query = of('query');
    this.#querystring = parameters
      .filter((each) => each.in === 'querystring')
      .map((each) => new WholeQuery(each, schemas));
    this.#header = of('header');
    this.#cookie = of('cookie');
    this.#steps = schemas.steps;
    this.#splits = PathSplits.of(path);
  }

  /** Path parameters as the router has split them, or another split where that one is valid and theirs is not. */
  split(rawParams: readonly string[]): readonly string[] {
    if (this.#splits === null) return rawParams;
    this.#steps.begin(0, 0);
    try {
      return this.#splits.valid(rawParams, (index, raw) =>
        this.#path.every((each) => each.index !== index || verify(each, readText(each.parameter, raw, true)) === null),
      );
    } catch (error) {
      if (error instanceof StepsExceeded) return rawParams;
      throw error;
    }
  }

  /**
   * `rawParams`: path parameters still encoded. Null where all hold; with `all` every error, else the first. Throws
   * StepsExceeded where patterns take too many steps.
   */
  validate(x: Exchange, rawParams: readonly string[], all: boolean): ParameterErrors | null {
    this.#steps.begin(0, 0);
    const errors = this.#errors(x, rawParams, all);
    x.patternSteps = this.#steps.used;
    return errors;
  }

  #errors(x: Exchange, rawParams: readonly string[], all: boolean): ParameterErrors | null {
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
    for (const each of this.#querystring) if (found(each.errors(x.query))) return errors;
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

/** The query as one value: `in: querystring` (OpenAPI 3.2, section 4.12.1). */
class WholeQuery {
  readonly #parameter: Parameter;
  readonly #type: string;
  readonly #rules: ContentRules;

  constructor(parameter: Parameter, schemas: Schemas) {
    const { content_type: type = URLENCODED, fields, types, schema } = parameter;
    this.#parameter = parameter;
    this.#type = type;
    this.#rules = new ContentRules(
      { [type]: { ...(schema ? { schema } : {}), ...(fields ? { fields } : {}), types } },
      schemas,
    );
  }

  errors(query: string | undefined): ProblemError[] | null {
    const { name, required } = this.#parameter;
    if (query === undefined || query === '') {
      return required ? [{ in: 'query', field: name, reason: 'is required' }] : null;
    }
    const text = this.#type === URLENCODED ? query : decode(query, false);
    if (text === undefined) return [{ in: 'query', field: name, reason: 'is badly percent-encoded' }];
    const errors = this.#rules.errors(this.#type, Buffer.from(text));
    return (
      errors?.map(({ field, reason }) => ({ in: 'query', field: field === '/' ? name : name + field, reason })) ?? null
    );
  }
}

function verifyPair(check: Check, pairs: Pairs, plus: boolean): ProblemError[] | null {
  const { parameter } = check;
  if (parameter.allow_empty_value) {
    const own = pairs.filter(([name]) => name === parameter.name);
    if (own.length === 1 && own[0]?.[1] === '') return null;
  }
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
