/** How reading a message of HTTP/1.1 fails. */

/** Why bytes are no message. */
export type ParseFailure = 'malformed' | 'head-too-large' | 'ended-early';

export class ParseError extends Error {
  readonly failure: ParseFailure;
  /** Name of llhttp's error, such as HPE_INVALID_METHOD; one of Node.js where llhttp has no such limit. */
  readonly code: string;
  /** A head that is too large has not come to the end of its target. */
  readonly inTarget: boolean;

  constructor(failure: ParseFailure, code: string, reason: string, inTarget = false) {
    super(reason);
    this.failure = failure;
    this.code = code;
    this.inTarget = inTarget;
  }
}
