/** Validates the bodies of one operation's requests (docs/reference/gateway.md#validation, docs/decisions.md#request-order). */
import type { RequestBody } from '../artifact/format.ts';
import { isUtf8, mediaTypeOf } from '../headers/media-type.ts';
import { ContentCheck } from './content-check.ts';
import type { Asker, Verdict } from './helpers/validation-helpers.ts';
import type { Schemas } from './schemas/schemas.ts';

export type BodyFault = { readonly kind: 'unsupported'; readonly detail: string } | NonNullable<Verdict>;

export class BodyValidator {
  readonly required: boolean;
  readonly #check: ContentCheck;

  constructor(body: RequestBody, schemas: Schemas) {
    this.required = body.required;
    this.#check = new ContentCheck(body.content, schemas, 'refused');
  }

  /** Before the body is read: a fault, or whether its text is needed to decide. */
  head(contentType: string | undefined, contentEncoding: string | undefined): BodyFault | { readonly reads: boolean } {
    const reader = this.#check.rules.readerOf(mediaTypeOf(contentType));
    if (reader === undefined) {
      return { kind: 'unsupported', detail: `Content-Type must be ${this.#check.rules.ranges.join(', ')}.` };
    }
    if (reader === null) return { reads: false };
    if (contentEncoding !== undefined && contentEncoding.toLowerCase() !== 'identity') {
      return { kind: 'unsupported', detail: 'Content-Encoding must be identity where the body is validated.' };
    }
    if (!isUtf8(contentType)) return { kind: 'unsupported', detail: 'The charset of Content-Type must be utf-8.' };
    return { reads: true };
  }

  /** Validates the body that `head` wanted read. `usedSteps`: steps that the request has taken before. */
  validate(contentType: string | undefined, body: Uint8Array, asker: Asker, usedSteps = 0): Verdict | Promise<Verdict> {
    return this.#check.verdict(contentType ?? '', body, asker, usedSteps);
  }
}
