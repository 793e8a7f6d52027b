/** A value that a config takes from a request: `$request.header.<name>`, `$request.path.<param>`, or a literal. */
import { Request } from "./request";
import { EMPTY, Text, text } from "./text";

const FROM_HEADER = text("$request.header.");
const FROM_PATH = text("$request.path.");

const LITERAL: i32 = 0;
const HEADER: i32 = 1;
const PATH: i32 = 2;

/**
 * A literal, or a place in the request that a value is taken from.
 *
 * @example
 * const key = new RequestValue(text("$request.header.x-order")); // in init
 * const order = key.of();
 */
export class RequestValue {
  private source: i32 = LITERAL;
  /** The literal, or the name of header or parameter. */
  private named: Text = EMPTY;

  /** Reads an expression: `$request.header.<name>`, `$request.path.<param>`, or a literal. */
  constructor(expression: Text) {
    this.source = expression.startsWith(FROM_HEADER) ? HEADER : expression.startsWith(FROM_PATH) ? PATH : LITERAL;
    const prefix = this.source == HEADER ? FROM_HEADER.length : this.source == PATH ? FROM_PATH.length : 0;
    this.named = expression.slice(prefix);
  }

  /** Returns the value for the current request; null if the request lacks it. */
  of(): Text | null {
    if (this.source == HEADER) return Request.header(this.named);
    if (this.source == PATH) return Request.pathParam(this.named);
    return this.named;
  }
}
