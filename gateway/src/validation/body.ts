/** Validates request bodies by content type and JSON Schema (reference 1, section 4.3; D12). */
import type { RequestBody } from '../artifact/format.ts';
import type { ProblemError } from '../problems.ts';
import { describeErrors, type Schemas, type Validator } from './schemas.ts';

export type BodyFault =
  | { readonly kind: 'unsupported'; readonly detail: string }
  | { readonly kind: 'invalid'; readonly errors: readonly ProblemError[] };

interface MediaRule {
  /** `type/subtype`, `type/*` or `*` + `/*`, lower case. */
  readonly range: string;
  readonly validate: Validator | null;
}

const JSON_TYPE = /^[^;]*[/+]json$/;

/** Lower case, without parameters. */
export function mediaTypeOf(contentType: string | undefined): string {
  return (contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
}

export class BodyValidator {
  readonly required: boolean;
  readonly #rules: readonly MediaRule[];

  constructor(body: RequestBody, schemas: Schemas) {
    this.required = body.required;
    this.#rules = Object.entries(body.content)
      .map(([range, { schema }]) => ({
        range,
        validate: schema ? schemas.validator(schema) : null,
      }))
      .sort((a, b) => specificity(b.range) - specificity(a.range));
  }

  /** Before the body is read: a fault, or whether its text is needed to decide. */
  head(contentType: string | undefined, contentEncoding: string | undefined): BodyFault | { readonly reads: boolean } {
    const media = mediaTypeOf(contentType);
    const rule = this.#rule(media);
    if (!rule) {
      const accepted = this.#rules.map(({ range }) => range).join(', ');
      return { kind: 'unsupported', detail: `Content-Type must be ${accepted}.` };
    }
    const reads = rule.validate !== null && JSON_TYPE.test(media);
    if (reads && contentEncoding !== undefined && contentEncoding.toLowerCase() !== 'identity') {
      return { kind: 'unsupported', detail: 'Content-Encoding must be identity where the body is validated.' };
    }
    return { reads };
  }

  /** The body that `head` wanted read. */
  validate(contentType: string | undefined, body: Uint8Array): BodyFault | null {
    const rule = this.#rule(mediaTypeOf(contentType));
    if (!rule?.validate) return null;
    let value: unknown;
    try {
      value = JSON.parse(decoder.decode(body));
    } catch {
      return invalid([{ in: 'body', field: '/', reason: 'is not valid JSON in UTF-8' }]);
    }
    try {
      const errors = rule.validate(value);
      return errors ? invalid(describeErrors(errors, 'body', '')) : null;
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      return invalid([{ in: 'body', field: '/', reason: 'is nested too deeply' }]);
    }
  }

  #rule(media: string): MediaRule | undefined {
    return this.#rules.find(({ range }) => range === media || matchesRange(range, media));
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

function invalid(errors: readonly ProblemError[]): BodyFault {
  return { kind: 'invalid', errors };
}

function matchesRange(range: string, media: string): boolean {
  if (range === '*/*') return true;
  return range.endsWith('/*') && media.startsWith(range.slice(0, -1));
}

function specificity(range: string): number {
  return range === '*/*' ? 0 : range.endsWith('/*') ? 1 : 2;
}
