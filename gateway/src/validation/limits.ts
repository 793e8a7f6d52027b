/** Limits on a request that are checked first (docs/reference/gateway.md#limits, docs/decisions.md#request-order). */
import type { Exchange } from '../exchange.ts';
import { type Problem, problem } from '../problems.ts';
import type { ValidationReason } from '../telemetry/metric-table.ts';

export interface RequestLimits {
  /** Bytes. */
  readonly maxBodySize: number;
  readonly maxHeaders: number;
  /** Bytes of one header, name and value. */
  readonly maxHeaderSize: number;
  /** Bytes of all headers, names and values. */
  readonly maxHeaderBytes: number;
  /** Bytes. */
  readonly maxUriLength: number;
}

export interface Refusal {
  readonly reason: ValidationReason;
  readonly problem: Problem;
}

function refusal(reason: ValidationReason, detail: string): Refusal {
  return { reason, problem: problem('validation-failed', detail) };
}

/**
 * `.` and `..`, also percent-encoded, with parameters (`..;a`), and between encoded slashes: an upstream that decodes
 * the path first could read it differently.
 */
const DOT_SEGMENT = /(?:\/|%2f|%5c)(?:\.|%2e){1,2}(?:;|\/|%2f|%5c|$)/i;

/** The path has such a segment. */
export function isClimbing(path: string): boolean {
  return DOT_SEGMENT.test(path);
}

export function checkLimits(exchange: Exchange, limits: RequestLimits): Refusal | null {
  const { target, rawHeaders } = exchange;
  if (target.length > limits.maxUriLength) {
    return refusal('uri-length', `The URI has ${target.length} bytes; the limit is ${limits.maxUriLength} bytes.`);
  }
  if (rawHeaders.length > 2 * limits.maxHeaders) {
    return refusal('header-count', `There are ${rawHeaders.length / 2} headers; the limit is ${limits.maxHeaders}.`);
  }
  let total = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const size = (rawHeaders[i] as string).length + (rawHeaders[i + 1] as string).length;
    if (size > limits.maxHeaderSize) {
      return tooLarge(`A header has ${size} bytes; the limit is ${limits.maxHeaderSize} bytes.`);
    }
    total += size;
  }
  if (total > limits.maxHeaderBytes) {
    return tooLarge(`The headers together have ${total} bytes; the limit is ${limits.maxHeaderBytes} bytes.`);
  }
  if (exchange.fault !== null) return malformed(exchange.fault);
  const servesTarget = target.charCodeAt(0) === 47 || (target === '*' && exchange.method === 'OPTIONS');
  if (!servesTarget) return malformed('The request target must be a path.');
  if (target.includes('#')) return malformed('The request target must not hold a fragment.');
  if (exchange.path.includes('\\') || exchange.path.includes('%00')) {
    return malformed('The path must not hold a backslash or an encoded NUL.');
  }
  if (exchange.path.includes('/.') || exchange.path.includes('%')) {
    if (isClimbing(exchange.path)) return malformed('The path must not hold "." or ".." segments.');
  }
  return null;
}

function tooLarge(detail: string): Refusal {
  return { reason: 'header-size', problem: problem('header-too-large', detail) };
}

/**
 * Returns the problem for a single-valued header that came in several lines: readers behind the gateway could take any
 * of them (docs/decisions.md#one-reading).
 */
export function repeatedHeader(name: string): Problem {
  return problem('malformed-request', `There is more than one ${name} header.`);
}

function malformed(detail: string): Refusal {
  return { reason: 'malformed', problem: problem('malformed-request', detail) };
}
