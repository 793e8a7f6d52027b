/**
 * Validates responses against the API description, if an operation asks for it
 * (docs/reference/gateway.md#response-validation).
 */
import type { Content, Operation, ResponseValidation } from '../artifact/format.ts';
import { type HeaderList, headerOf } from '../exchange.ts';
import { isJson, isUtf8, mediaTypeOf } from '../headers/media-type.ts';
import type { ProblemError } from '../problems.ts';
import { ContentCheck } from './content-check.ts';
import { type Asker, errorsOf } from './helpers/validation-helpers.ts';
import type { Schemas } from './schemas/schemas.ts';

/** Statuses without a whole representation in the response. */
const WITHOUT_BODY = new Set([204, 205, 206, 304]);

export class ResponseValidator {
  readonly mode: ResponseValidation;
  readonly #responses: ReadonlyMap<string, ContentCheck>;
  readonly #limit: number;

  /** `limit`: bytes of a body that is held to be validated. */
  constructor(mode: ResponseValidation, responses: Readonly<Record<string, Content>>, schemas: Schemas, limit: number) {
    this.mode = mode;
    this.#limit = limit;
    this.#responses = new Map(
      Object.entries(responses).map(([status, content]) => {
        return [status.toUpperCase(), new ContentCheck(content, schemas, 'last')];
      }),
    );
  }

  static of(operation: Operation, schemas: Schemas, limit: number): ResponseValidator | null {
    const { validate_response: mode, responses } = operation;
    return mode && responses ? new ResponseValidator(mode, responses, schemas, limit) : null;
  }

  /** Reports whether a response that does not match is kept from the client. */
  get withholds(): boolean {
    return this.mode !== 'log';
  }

  /** Reports whether its status has described content, but not of its content type. */
  isUndeclared(status: number, headers: HeaderList): boolean {
    const rules = this.#rulesOf(status)?.rules;
    if (this.mode === 'enforce-json' || !rules || rules.ranges.length === 0) return false;
    return rules.readerOf(mediaTypeOf(headerOf(headers, 'content-type'))) === undefined;
  }

  get limit(): number {
    return this.#limit;
  }

  /** Returns why a response is not validated, for the log at debug; null if it is, once its body is whole. */
  skips(method: string, status: number, headers: HeaderList): string | null {
    if (method === 'HEAD' || WITHOUT_BODY.has(status)) return 'it has no body of its own';
    const rules = this.#rulesOf(status)?.rules;
    if (!rules || rules.ranges.length === 0) return 'its status has no described content';
    if (this.isUndeclared(status, headers)) return null;
    const contentType = headerOf(headers, 'content-type');
    if (!isJson(mediaTypeOf(contentType)) || !isUtf8(contentType)) return 'it is not JSON in UTF-8';
    const encoding = headerOf(headers, 'content-encoding');
    if (encoding !== undefined && encoding.toLowerCase() !== 'identity') return 'its content is encoded';
    return Number(headerOf(headers, 'content-length') ?? 0) > this.#limit ? 'its body is too large to be held' : null;
  }

  /** Validates a response that is not skipped; returns null if it is valid. */
  errors(
    status: number,
    headers: HeaderList,
    body: Uint8Array,
    asker: Asker,
  ): readonly ProblemError[] | null | Promise<readonly ProblemError[] | null> {
    const check = this.#rulesOf(status);
    const contentType = headerOf(headers, 'content-type') ?? '';
    if (!check) return null;
    const { rules } = check;
    if (rules.readerOf(mediaTypeOf(contentType)) === undefined) {
      const reason = `is ${mediaTypeOf(contentType) || 'missing'}, and only ${rules.ranges.join(', ')} is described`;
      return [{ in: 'header', field: 'content-type', reason }];
    }
    const verdict = check.verdict(contentType, body, asker);
    return verdict instanceof Promise ? verdict.then(errorsOf) : errorsOf(verdict);
  }

  #rulesOf(status: number): ContentCheck | undefined {
    const responses = this.#responses;
    return responses.get(String(status)) ?? responses.get(`${Math.floor(status / 100)}XX`) ?? responses.get('DEFAULT');
  }
}
