/**
 * `Deprecation` (RFC 9745) and `Sunset` (RFC 8594) of an operation, one line each: a valid one that the upstream or a
 * plugin sent comes before the document's (docs/reference/gateway.md#response-headers).
 */
import type { Operation } from '../artifact/format.ts';
import type { HeaderList } from '../exchange.ts';
import { parseHttpDate } from './http-date.ts';

/** A Date of structured fields (RFC 9651, section 3.3.7), perhaps with parameters. */
const STRUCTURED_DATE = /^@-?\d{1,15}[ ]*(?:;.*)?$/;

interface OwnHeader {
  readonly name: string;
  readonly value: string;
  /** Reports whether another's value carries the same information. */
  isValid(value: string): boolean;
}

export class LifecycleHeaders {
  readonly #own: readonly OwnHeader[];

  constructor(own: readonly OwnHeader[]) {
    this.#own = own;
  }

  /** Returns null if the document has no information on the operation's end. */
  static of({ deprecated, deprecated_at: at, sunset }: Operation): LifecycleHeaders | null {
    const own: OwnHeader[] = [];
    if (at !== undefined) own.push({ name: 'deprecation', value: `@${at}`, isValid: isStructuredDate });
    else if (deprecated) own.push({ name: 'deprecation', value: 'true', isValid: isDeprecation });
    if (sunset !== undefined) own.push({ name: 'sunset', value: sunset, isValid: isHttpDate });
    return own.length === 0 ? null : new LifecycleHeaders(own);
  }

  /** Leaves the first valid line of each name in place, or adds the gateway's. */
  addTo(headers: HeaderList): void {
    for (const { name, value, isValid } of this.#own) {
      let has = false;
      for (let i = 0; i < headers.length; i += 2) {
        if (headers[i] !== name) continue;
        if (!has && isValid(headers[i + 1] as string)) has = true;
        else {
          headers.splice(i, 2);
          i -= 2;
        }
      }
      if (!has) headers.push(name, value);
    }
  }
}

function isStructuredDate(value: string): boolean {
  return STRUCTURED_DATE.test(value);
}

/** The drafts before RFC 9745 have `true` or an HTTP-date. */
function isDeprecation(value: string): boolean {
  return value === 'true' || isStructuredDate(value) || isHttpDate(value);
}

function isHttpDate(value: string): boolean {
  return parseHttpDate(value) !== null;
}
