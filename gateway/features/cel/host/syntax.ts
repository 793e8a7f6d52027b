/** The syntax tree of an expression, and errors with their place in it. */
import { parse } from '@bufbuild/cel';

export type ParsedExpr = ReturnType<typeof parse>;
export type Expr = NonNullable<ParsedExpr['expr']>;

/** Longest expression, in characters. */
const MOST_TEXT = 16_384;

/** The expression is not one, or cannot be right. */
export class ExpressionError extends Error {
  /** In the expression, both from 1. */
  readonly line: number;
  readonly column: number;
  /** The error, without its place. */
  readonly reason: string;

  constructor(reason: string, line: number, column: number) {
    super(`line ${line}, column ${column}: ${reason}`);
    this.reason = reason;
    this.line = line;
    this.column = column;
  }
}

/** Thrown with the node's id, until the text is available. */
class NodeError extends Error {
  readonly id: bigint;
  constructor(id: bigint, message: string) {
    super(message);
    this.id = id;
  }
}

export function fail(id: bigint, message: string): never {
  throw new NodeError(id, message);
}

/** Throws ExpressionError if the text is not an expression, is too long or too deep. */
export function parseExpression(text: string): ParsedExpr {
  if (text.length > MOST_TEXT) throw new ExpressionError(`longer than ${MOST_TEXT} characters`, 1, 1);
  try {
    return parse(text);
  } catch (error) {
    const { line, column } = placeOfSyntaxError(error);
    throw new ExpressionError(reasonOf(error), line, column);
  }
}

/** Does `work` on the tree; an error at a node has the node's place in the text. */
export function placed<T>(text: string, { sourceInfo }: ParsedExpr, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof RangeError) throw new ExpressionError('nested too deeply', 1, 1);
    if (!(error instanceof NodeError)) throw error;
    const { line, column } = placeAt(text, sourceInfo?.positions[error.id.toString()] ?? 0);
    throw new ExpressionError(error.message, line, column);
  }
}

/** Line and column of an offset, both from 1. */
export function placeAt(text: string, offset: number): { readonly line: number; readonly column: number } {
  const before = text.slice(0, offset).split('\n');
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
}

/** Returns `a.b.c` as text; undefined if the expression is not a chain of names. */
export function qualifiedName({ exprKind: kind }: Expr): string | undefined {
  if (kind.case === 'identExpr') return kind.value.name;
  if (kind.case !== 'selectExpr' || kind.value.testOnly || kind.value.operand === undefined) return undefined;
  const operand = qualifiedName(kind.value.operand);
  return operand === undefined ? undefined : `${operand}.${kind.value.field}`;
}

function reasonOf(error: unknown): string {
  if (error instanceof RangeError) return 'nested too deeply';
  if (!(error instanceof Error)) return 'this is not an expression';
  return 'rawMessage' in error && typeof error.rawMessage === 'string' ? error.rawMessage : error.message;
}

function placeOfSyntaxError(error: unknown): { readonly line: number; readonly column: number } {
  const location = error instanceof Error && 'location' in error ? error.location : undefined;
  const start = typeof location === 'object' && location !== null && 'start' in location ? location.start : undefined;
  if (typeof start !== 'object' || start === null || !('line' in start) || !('column' in start))
    return { line: 1, column: 1 };
  return { line: Number(start.line), column: Number(start.column) };
}
