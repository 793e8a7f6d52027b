/**
 * The transport's own answers: to bytes that the parser refused (docs/decisions.md#refusals-are-ours), and to clients
 * that are too slow.
 */
import type { Exchange, HeaderList } from '../exchange.ts';
import { addStandardHeaders, identify } from '../headers/standard.ts';
import type { ParseFailure } from '../http1/parse-error.ts';
import { GAVE_WAY, noRoomForResponse, type Problem, problem, renderProblem } from '../problems.ts';
import type { ValidationReason } from '../telemetry/metric-table.ts';

/** Bytes that are not a request, or not one that is served, with what is known of it. */
export interface Unreadable {
  readonly failure: ParseFailure | 'too-slow';
  /** The target is what is too long. */
  readonly inTarget?: boolean;
  readonly method?: string;
  readonly target?: string;
  readonly headers?: HeaderList;
}

export interface Verdict {
  readonly reason: ValidationReason | null;
  readonly answer: Problem;
}

export function verdictOf({ failure, inTarget = false }: Unreadable, maxUriLength: number): Verdict {
  switch (failure) {
    case 'head-too-large': {
      if (inTarget) {
        const detail = `The URI is longer than the gateway reads; the limit is ${maxUriLength} bytes.`;
        return { reason: 'uri-length', answer: problem('validation-failed', detail) };
      }
      const detail = 'The headers together are larger than the gateway reads.';
      return { reason: 'header-size', answer: problem('header-too-large', detail) };
    }
    case 'too-slow':
      // A slow request is not a malformed one.
      return { reason: null, answer: problem('request-timeout', 'The request did not arrive in time.') };
    default:
      return { reason: 'malformed', answer: problem('malformed-request', 'The request is not valid HTTP/1.1.') };
  }
}

/** Milliseconds that the client gets to read a refusal and close. */
export const LINGER_MS = 2000;

/** An answer of the transport's own to a request that the pipeline has. */
export interface Refusal {
  readonly status: number;
  readonly headers: HeaderList;
  readonly body: string;
}

/** Refuses a request whose body has stopped. */
export function tooSlow(exchange: Exchange): Refusal {
  return refusalOf(exchange, problem('request-timeout', 'The request body did not arrive in time.'));
}

/** Status of a request whose headers find no room. */
export const NO_HEADER_ROOM = 429;

/** Refuses such a request. */
export function noHeaderRoom(exchange: Exchange): Refusal {
  const detail =
    'Requests of this client hold as many bytes of headers as the gateway admits. Try again when they end.';
  return refusalOf(exchange, problem('rate-limited', detail));
}

/** Refuses a request whose response finds no room. */
export function noResponseRoom(exchange: Exchange): Refusal {
  return refusalOf(exchange, noRoomForResponse());
}

/** Refuses a request whose memory others need. */
export function gaveWay(exchange: Exchange): Refusal {
  return refusalOf(exchange, problem('overloaded', GAVE_WAY));
}

/** Refuses an extended CONNECT for another protocol than WebSocket (RFC 9220, section 3). */
export function unknownProtocol(exchange: Exchange): Refusal {
  return refusalOf(exchange, problem('not-implemented', 'The :protocol of the request is not spoken here.'));
}

/** Refuses a request whose body is not validly framed. */
export function unreadable(exchange: Exchange): Refusal {
  return refusalOf(exchange, problem('malformed-request', 'The request body is not validly framed.'));
}

const IDENTIFIERS: ReadonlySet<string> = new Set(['x-request-id', 'traceparent', 'tracestate']);

/** Makes the answer, also for a request that the pipeline has not seen. */
export function refusalOf(exchange: Exchange, refusal: Problem): Refusal {
  if (exchange.requestId === '') {
    // The pipeline has not seen it, so only its identifiers are used.
    exchange.headers = exchange.rawHeaders.flatMap((name, i) =>
      i % 2 === 0 && IDENTIFIERS.has(name.toLowerCase())
        ? [name.toLowerCase(), exchange.rawHeaders[i + 1] as string]
        : [],
    );
    identify(exchange);
  }
  const body = renderProblem(refusal);
  const headers = ['content-type', 'application/problem+json', 'content-length', String(Buffer.byteLength(body))];
  addStandardHeaders(exchange, headers);
  return { status: refusal.status, headers, body };
}
