/** Reads bodies by content type and validates them by JSON Schema (docs/reference/gateway.md#validation). */
import type { Content, FormField, SchemaRef } from '../artifact/format.ts';
import { RepeatedMember } from '../json/escaped-names.ts';
import { parseOnce } from '../json/parse-once.ts';
import type { ProblemError } from '../problems.ts';
import { failed, type Reading, readParts, readUrlencoded } from './form.ts';
import { covers, isJson, mediaTypeOf, specificity } from './media-type.ts';
import { describeErrors, type Schemas, type Validator } from './schemas.ts';
import { readAs } from './text.ts';

interface MediaRule {
  /** `type/subtype`, `type/*` or `*` + `/*`, lower case. */
  readonly range: string;
  readonly schema: SchemaRef | null;
  readonly validate: Validator | null;
  readonly fields: readonly FormField[] | null;
  readonly types: readonly string[] | null;
}

const isDeep = ({ style, content_type }: FormField) => style === 'deepObject' && content_type === undefined;

/** What bodies of declared content types must be. */
export class ContentRules {
  readonly #rules: readonly MediaRule[];
  readonly #parse: (json: Uint8Array) => unknown;
  readonly #schemas: Schemas;

  /** `parse`: how JSON is read. Default: as requests are, with no member twice (docs/decisions.md#one-reading). */
  constructor(content: Content, schemas: Schemas, parse = parseOnce) {
    this.#parse = parse;
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

  /** Whether compiling the schema for this type holds up the event loop. */
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

/** `parse` takes the bytes of a JSON text. */
function readJson(body: Uint8Array, parse: (bytes: Uint8Array) => unknown): Reading {
  try {
    return { value: parse(body) };
  } catch (error) {
    if (error instanceof RangeError) throw error;
    return failed('/', error instanceof RepeatedMember ? error.message : 'is not valid JSON in UTF-8');
  }
}
