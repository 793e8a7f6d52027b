/**
 * Validates bodies by content type and JSON Schema (docs/reference/gateway.md#validation,
 * docs/decisions.md#request-order).
 */
import type { Content, FormField, RequestBody } from '../artifact/format.ts';
import { RepeatedMember } from '../json/escaped-names.ts';
import { parseOnce } from '../json/parse-once.ts';
import { type StepBudget, StepsExceeded } from '../patterns/step-budget.ts';
import type { ProblemError } from '../problems.ts';
import { failed, type Reading, readParts, readUrlencoded } from './form.ts';
import { covers, isJson, isUtf8, mediaTypeOf, specificity } from './media-type.ts';
import { describeErrors, type Schemas, type Validator } from './schemas.ts';
import { readAs } from './text.ts';

export type BodyFault =
  | { readonly kind: 'unsupported'; readonly detail: string }
  | { readonly kind: 'invalid'; readonly errors: readonly ProblemError[] }
  | { readonly kind: 'steps' };

interface MediaRule {
  /** `type/subtype`, `type/*` or `*` + `/*`, lower case. */
  readonly range: string;
  readonly validate: Validator | null;
  readonly fields: readonly FormField[] | null;
  readonly types: readonly string[] | null;
}

const isDeep = ({ style, content_type }: FormField) => style === 'deepObject' && content_type === undefined;

/** What bodies of declared content types must be. */
export class ContentRules {
  readonly #rules: readonly MediaRule[];
  readonly #parse: (json: Uint8Array) => unknown;

  /** `parse`: how JSON is read. Default: as requests are, with no member twice (docs/decisions.md#one-reading). */
  constructor(content: Content, schemas: Schemas, parse = parseOnce) {
    this.#parse = parse;
    this.#rules = Object.entries(content)
      .map(([range, { schema, fields, types }]) => ({
        range,
        validate: schema ? (fields?.some(isDeep) ? schemas.typedValidator(schema) : schemas.validator(schema)) : null,
        fields: fields ?? null,
        types: types ?? null,
      }))
      .sort((a, b) => specificity(b.range) - specificity(a.range));
  }

  get ranges(): readonly string[] {
    return this.#rules.map(({ range }) => range);
  }

  /** Undefined where no rule covers the type; null where one does that validates nothing. */
  readerOf(media: string): ((contentType: string, body: Uint8Array) => Reading) | null | undefined {
    const rule = this.#ruleOf(media);
    if (!rule) return undefined;
    return rule.validate === null ? null : this.#readerOf(rule, media);
  }

  /** Null where the body holds. Throws StepsExceeded. */
  errors(contentType: string, body: Uint8Array): readonly ProblemError[] | null {
    const media = mediaTypeOf(contentType);
    const rule = this.#ruleOf(media);
    const read = rule?.validate ? this.#readerOf(rule, media) : null;
    if (!rule?.validate || !read) return null;
    try {
      const reading = read(contentType, body);
      if ('errors' in reading) return reading.errors;
      const errors = rule.validate(reading.value);
      return errors ? describeErrors(errors, 'body', '') : null;
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      return failed('/', 'is nested too deeply').errors;
    }
  }

  #ruleOf(media: string): MediaRule | undefined {
    return this.#rules.find(({ range }) => covers(range, media));
  }

  /** How a body of this type becomes a value; null where we do not read such bodies. */
  #readerOf({ fields, types }: MediaRule, media: string) {
    if (isJson(media)) return (_: string, body: Uint8Array) => readJson(body, this.#parse);
    if (media === 'application/x-www-form-urlencoded' && fields) {
      return (_: string, body: Uint8Array) => decoded(body, (text) => readUrlencoded(fields, text));
    }
    if (media === 'multipart/form-data' && fields) {
      return (contentType: string, body: Uint8Array) => readParts(fields, contentType, body);
    }
    if (media.startsWith('text/') && types) {
      return (_: string, body: Uint8Array) => decoded(body, (text) => ({ value: readAs(text, types) }));
    }
    return null;
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

function decoded(body: Uint8Array, read: (text: string) => Reading): Reading {
  let text: string;
  try {
    text = decoder.decode(body);
  } catch {
    return failed('/', 'is not UTF-8 text');
  }
  return read(text);
}

/** `parse` takes the bytes of a JSON text. */
function readJson(body: Uint8Array, parse: (bytes: Uint8Array) => unknown): Reading {
  try {
    return { value: parse(body) };
  } catch (error) {
    if (error instanceof RangeError) throw error;
    return failed('/', error instanceof RepeatedMember ? error.message : 'is not valid JSON in UTF-8');
  }
}

/** Of one operation's requests. */
export class BodyValidator {
  readonly required: boolean;
  readonly #rules: ContentRules;
  readonly #steps: StepBudget;

  constructor(body: RequestBody, schemas: Schemas) {
    this.required = body.required;
    this.#rules = new ContentRules(body.content, schemas);
    this.#steps = schemas.steps;
  }

  /** Before the body is read: a fault, or whether its text is needed to decide. */
  head(contentType: string | undefined, contentEncoding: string | undefined): BodyFault | { readonly reads: boolean } {
    const reader = this.#rules.readerOf(mediaTypeOf(contentType));
    if (reader === undefined) {
      return { kind: 'unsupported', detail: `Content-Type must be ${this.#rules.ranges.join(', ')}.` };
    }
    if (reader === null) return { reads: false };
    if (contentEncoding !== undefined && contentEncoding.toLowerCase() !== 'identity') {
      return { kind: 'unsupported', detail: 'Content-Encoding must be identity where the body is validated.' };
    }
    if (!isUtf8(contentType)) return { kind: 'unsupported', detail: 'The charset of Content-Type must be utf-8.' };
    return { reads: true };
  }

  /** The body that `head` wanted read, of a request that has taken so many steps to match patterns. */
  validate(contentType: string | undefined, body: Uint8Array, steps = 0): BodyFault | null {
    this.#steps.begin(steps, body.length);
    try {
      const errors = this.#rules.errors(contentType ?? '', body);
      return errors ? { kind: 'invalid', errors } : null;
    } catch (error) {
      if (error instanceof StepsExceeded) return { kind: 'steps' };
      throw error;
    }
  }
}
