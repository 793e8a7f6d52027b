/** Validates the parameters of one operation; made at load, so that a request pays only for declared ones. */
import type { Parameter } from '../artifact/format.ts';
import { type Exchange, joinedHeader } from '../exchange.ts';
import { forgetStandIns } from '../json/stand-ins.ts';
import { type StepBudget, StepsExceeded, TimeExceeded, type TimeLimit } from '../patterns/step-budget.ts';
import type { ProblemError } from '../problems.ts';
import { parseTemplate } from '../router/template.ts';
import { ContentRules } from './content-rules.ts';
import type { TableHelpers, Verdict } from './helpers/validation-helpers.ts';
import { InlinePace } from './inline-pace.ts';
import { describeErrors, type Schemas, type Validator } from './schemas/schemas.ts';
import { DeclaredNames, READ_AS_DECLARED } from './styles/declared-names.ts';
import { PathSplits } from './styles/path-splits.ts';
import { MALFORMED, type Pairs, readPairs, readText, splitCookies, splitQuery } from './styles/styles.ts';
import { decode } from './styles/text.ts';

const URLENCODED = 'application/x-www-form-urlencoded';

/** Places and reasons; the first `in` is the metric's reason. */
export type ParameterErrors = readonly ProblemError[];

/** The source of parameters. */
export type ParameterSource = Pick<Exchange, 'query' | 'headers' | 'patternSteps'>;

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

/** Tells validators of a process apart. */
let validators = 0;

export class ParameterValidator {
  readonly #path: readonly (Check & { readonly index: number })[];
  readonly #query: readonly Check[];
  readonly #querystring: readonly WholeQuery[];
  readonly #header: readonly Check[];
  readonly #cookie: readonly Check[];
  readonly #queryNames: DeclaredNames;
  readonly #cookieNames: DeclaredNames;
  readonly #schemas: Schemas;
  readonly #steps: StepBudget;
  readonly parameters: readonly Parameter[];
  /** The template. */
  readonly path: string;
  readonly #pace = new InlinePace();
  readonly #splits: PathSplits | null;
  readonly #id = `parameters ${validators++}`;
  readonly #isHeavy: boolean;

  /** `path`: the template. */
  constructor(parameters: readonly Parameter[], path: string, schemas: Schemas) {
    this.parameters = parameters;
    this.path = path;
    this.#schemas = schemas;
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
    this.#queryNames = new DeclaredNames(this.#query.map(({ parameter }) => parameter));
    this.#cookieNames = new DeclaredNames(this.#cookie.map(({ parameter }) => parameter));
    this.#steps = schemas.steps;
    this.#splits = PathSplits.of(path);
    this.#isHeavy = parameters.some(({ schema }) => schema !== undefined && schemas.isHeavy(schema));
  }

  /** Returns path parameters as the router has split them, or another split if only that one is valid. */
  split(rawParams: readonly string[]): readonly string[] {
    if (this.#splits === null) return rawParams;
    this.#steps.begin(0, 0, this.#pace.limit);
    forgetStandIns();
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
   * `rawParams`: path parameters still encoded. Returns null if all are valid; with `all` every error, else the first.
   * Throws StepsExceeded if patterns take too many steps, and TimeExceeded if it takes longer than `limit`.
   */
  validate(
    source: ParameterSource,
    rawParams: readonly string[],
    all: boolean,
    limit?: TimeLimit,
  ): ParameterErrors | null {
    this.#steps.begin(0, 0, limit);
    forgetStandIns();
    const errors = this.#errors(source, rawParams, all);
    source.patternSteps = this.#steps.used;
    return errors;
  }

  /** Returns null if all parameters of the request are valid; slow validation goes on in a helper process. */
  verdict(exchange: Exchange, rawParams: readonly string[], all: boolean): Verdict | Promise<Verdict> {
    const { helpers } = this.#schemas;
    if (this.#isHeavy && helpers !== null) return this.#inHelper(helpers, exchange, rawParams, all);
    try {
      const errors = this.validate(exchange, rawParams, all, helpers === null ? undefined : this.#pace.limit);
      this.#pace.completed();
      return errors && { kind: 'invalid', errors };
    } catch (error) {
      if (!(error instanceof StepsExceeded)) throw error;
      if (!(error instanceof TimeExceeded) || helpers === null) return { kind: 'steps' };
      this.#pace.exceeded();
      return this.#inHelper(helpers, exchange, rawParams, all);
    }
  }

  #inHelper(
    helpers: TableHelpers,
    exchange: Exchange,
    pathParameters: readonly string[],
    all: boolean,
  ): Promise<Verdict> {
    const { parameters, path } = this;
    const about = { kind: 'parameters', prepares: this.#id, isHeavy: this.#isHeavy } as const;
    const asker = { clientIp: exchange.clientIp, authenticated: false, wanted: () => !exchange.closed };
    const work = { ...about, parameters, path, pathParameters, all, query: exchange.query, headers: exchange.headers };
    return helpers.validate(work, asker);
  }

  /** Compiles all schemas now, not with the first request. */
  compile(): void {
    for (const { schema } of this.parameters) if (schema) this.#schemas.compile(schema);
  }

  #errors(source: ParameterSource, rawParams: readonly string[], all: boolean): ParameterErrors | null {
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
      const pairs = source.query === undefined ? [] : splitQuery(source.query);
      if (source.query !== undefined && found(readAs('query', this.#queryNames.readAsIn(pairs, source.query))))
        return errors;
      for (const each of this.#query) if (found(verifyPair(each, pairs, true))) return errors;
    }
    for (const each of this.#querystring) if (found(each.errors(source.query))) return errors;
    for (const each of this.#header) {
      const raw = joinedHeader(source.headers, each.parameter.name);
      if (found(verify(each, raw === undefined ? undefined : readText(each.parameter, raw, false)))) return errors;
    }
    if (this.#cookie.length > 0) {
      const pairs = splitCookies(joinedHeader(source.headers, 'cookie') ?? '');
      if (found(readAs('cookie', this.#cookieNames.readAsAmongCookies(pairs)))) return errors;
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

function readAs(part: Parameter['in'], name: string | null): ProblemError[] | null {
  return name === null ? null : [{ in: part, field: name, reason: READ_AS_DECLARED }];
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
