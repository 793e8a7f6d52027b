/** Checks a client's `Accept` against the content types that an operation's description declares (RFC 9110, 12.5.1). */

import { covers, mediaTypeOf } from '../headers/media-type.ts';
import { type Problem, problem } from '../problems.ts';

/** Verdicts kept for each operation: clients send few different headers, and hostile ones many. */
const MOST_KNOWN = 64;

export class AcceptCheck {
  readonly produces: readonly string[];
  readonly #known = new Map<string, boolean>();

  /** `produces`: media types and ranges, lower case. */
  constructor(produces: readonly string[]) {
    this.produces = produces;
  }

  /** Returns true if the header is absent, or unreadable. */
  admits(accept: string | undefined): boolean {
    if (accept === undefined || accept === '*/*') return true;
    let verdict = this.#known.get(accept);
    if (verdict === undefined) {
      verdict = this.#judge(accept);
      if (this.#known.size < MOST_KNOWN) this.#known.set(accept, verdict);
    }
    return verdict;
  }

  #judge(accept: string): boolean {
    const ranges = accept.split(',').map((each) => ({ range: mediaTypeOf(each), refused: isRefused(each) }));
    const readable = ranges.filter(({ range }) => /^[^/\s]+\/[^/\s]+$/.test(range));
    if (readable.length === 0) return true;
    const wanted = readable.filter(({ refused }) => !refused);
    // A declared range may turn out to be any type that it covers.
    return this.produces.some((type) => wanted.some(({ range }) => covers(range, type) || covers(type, range)));
  }
}

/** `q=0`. */
function isRefused(element: string): boolean {
  return element
    .split(';')
    .slice(1)
    .some((parameter) => /^\s*q=0(?:\.0{0,3})?\s*$/i.test(parameter));
}

export function notAcceptable(produces: readonly string[]): Problem {
  const errors = [{ in: 'header', field: 'accept', reason: `admits none of ${produces.join(', ')}` }];
  return problem('not-acceptable', 'Accept admits none of the content types that this operation answers with.', {
    errors,
  });
}
