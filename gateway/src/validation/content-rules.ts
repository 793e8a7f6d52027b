/** Reads bodies by content type and validates them by JSON Schema (docs/reference/gateway.md#validation). */
import type { Content, FormField, SchemaRef } from '../artifact/format.ts';
import { covers, isJson, mediaTypeOf, specificity } from '../headers/media-type.ts';
import { RepeatedMember } from '../json/escaped-names.ts';
import { type Admit, parseForValidation } from '../json/parse-once.ts';
import { forgetStandIns } from '../json/stand-ins.ts';
import { StepsExceeded } from '../patterns/step-budget.ts';
import type { ProblemError } from '../problems.ts';
import { failed, type Reading, readParts, readUrlencoded } from './form.ts';
import type { Repeats } from './helpers/messages.ts';
import { describeErrors, type Schemas, type Validator } from './schemas/schemas.ts';
import { readAs } from './styles/text.ts';

interface MediaRule {
  /** `type/subtype`, `type/*` or `*` + `/*`, lower case. */
  readonly range: string;
  readonly schema: SchemaRef | null;
  readonly validate: Validator | null;
  readonly fields: readonly FormField[] | null;
  readonly types: readonly string[] | null;
}

/** Units of a character of JSON that is read token by token. */
const UNITS_A_CHARACTER = 300;

const isDeep = ({ style, content_type }: FormField) => style === 'deepObject' && content_type === undefined;

/** Rules for bodies, by declared content type. */
export class ContentRules {
  readonly #rules: readonly MediaRule[];
  readonly #lastCounts: boolean;
  readonly #admit: Admit;
  readonly #schemas: Schemas;

  /** `repeats`: treatment of objects with a repeated member in JSON texts (docs/decisions.md#one-reading). */
  constructor(content: Content, schemas: Schemas, repeats: Repeats = 'refused') {
    this.#lastCounts = repeats === 'last';
    this.#admit = (characters) => schemas.steps.admit(characters * UNITS_A_CHARACTER);
    this.#schemas = schemas;
    this.#rules = Object.entries(content)
      .map(([range, { schema, fields, types }]) => ({
        range,
        schema: schema ?? null,
        validate: schema ? (fields?.some(isDeep) ? schemas.typedValidator(schema) : schemas.validator(schema)) : null,
        fields: fields ?? null,
        types: types ?? null,
      }))
      .sort((a, b) => specificity(b.range) - specificity(a.range));
  }

  get ranges(): readonly string[] {
    return this.#rules.map(({ range }) => range);
  }

  /** Returns undefined if no rule covers the type; null if its rule validates nothing. */
  readerOf(media: string): ((contentType: string, body: Uint8Array) => Reading) | null | undefined {
    const rule = this.#ruleOf(media);
    if (!rule) return undefined;
    return rule.validate === null ? null : this.#readerOf(rule, media);
  }

  /** Returns null if the body holds. Throws StepsExceeded. */
  errors(contentType: string, body: Uint8Array): readonly ProblemError[] | null {
    const media = mediaTypeOf(contentType);
    const rule = this.#ruleOf(media);
    const read = rule?.validate ? this.#readerOf(rule, media) : null;
    if (!rule?.validate || !read) return null;
    forgetStandIns();
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

  /** Reports whether compiling the schema for this type holds up the event loop. */
  isHeavy(contentType: string): boolean {
    const schema = this.schemaOf(contentType);
    return schema !== null && this.#schemas.isHeavy(schema);
  }

  /** Returns null if nothing is validated for this type. */
  schemaOf(contentType: string): SchemaRef | null {
    return this.#ruleOf(mediaTypeOf(contentType))?.schema ?? null;
  }

  /** Compiles the schema for this type now, not with the first body. */
  compile(contentType: string): void {
    const schema = this.schemaOf(contentType);
    if (schema !== null) this.#schemas.compile(schema);
  }

  #ruleOf(media: string): MediaRule | undefined {
    return this.#rules.find(({ range }) => covers(range, media));
  }

  /** Returns the reader of bodies of this type; null if the type is unsupported. */
  #readerOf({ fields, types }: MediaRule, media: string) {
    if (isJson(media)) return (_: string, body: Uint8Array) => this.#readJson(body);
    if (media === 'application/x-www-form-urlencoded' && fields) {
      return (_: string, body: Uint8Array) => decoded(body, (text) => readUrlencoded(fields, text, this.#admit));
    }
    if (media === 'multipart/form-data' && fields) {
      return (contentType: string, body: Uint8Array) => readParts(fields, contentType, body, this.#admit);
    }
    if (media.startsWith('text/') && types) {
      return (_: string, body: Uint8Array) => decoded(body, (text) => ({ value: readAs(text, types) }));
    }
    return null;
  }

  #readJson(body: Uint8Array): Reading {
    try {
      return { value: parseForValidation(body, this.#lastCounts, this.#admit) };
    } catch (error) {
      if (error instanceof RangeError || error instanceof StepsExceeded) throw error;
      return failed('/', error instanceof RepeatedMember ? error.message : 'is not valid JSON in UTF-8');
    }
  }
}

/** A byte order mark is a character of a form or text: upstreams that do not skip it see one there, too. */
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decoded(body: Uint8Array, read: (text: string) => Reading): Reading {
  let text: string;
  try {
    text = decoder.decode(body);
  } catch {
    return failed('/', 'is not UTF-8 text');
  }
  return read(text);
}
