/**
 * One line a request, at level info: JSON built by hand, since a general serialiser costs more than the rest of the
 * logging. The query is left out: credentials travel there.
 */
import { type EndedRequest, type Exchange, headerOf } from '../exchange.ts';
import { type ProblemError, shortType } from '../problems.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what JSON must escape
const ESCAPED = /["\\\u0000-\u001f\u007f-\uffff]/;

/** Returns the text as a JSON string. */
export function text(value: string): string {
  return ESCAPED.test(value) ? JSON.stringify(value) : `"${value}"`;
}

/** Set by plugins that identify the caller; clients cannot set it. */
export const CONSUMER = 'x-auth-consumer';

/** Numbers below 1000 with three digits. */
const THREE_DIGITS = Array.from({ length: 1000 }, (_, i) => String(i).padStart(3, '0'));

let second = 0;
let prefix = '';

/** ISO 8601 in UTC; the part to the second is kept while it holds. */
export function timestamp(now: number): string {
  const whole = Math.floor(now / 1000);
  if (whole !== second) {
    second = whole;
    prefix = new Date(whole * 1000).toISOString().slice(0, 20);
  }
  return `${prefix}${THREE_DIGITS[now - whole * 1000]}Z`;
}

/** Returns members only if present: most requests have no logged state, and an answer of their upstream. */
function decisions({ parts, outcome: { decidedBy, decision } }: Exchange): string {
  let logged = '';
  if (parts !== null) for (const part of parts) logged += part?.logged ?? '';
  return decidedBy === null ? logged : `${logged},"plugin":${text(decidedBy)},"decision":"${decision}"`;
}

/** Findings of a validation in a line, and characters of their texts. */
const [MOST_ERRORS, MOST_CHARACTERS] = [3, 200];

/** Returns the type of a problem, and the first findings of a validation: where and why, never a value. */
function refusal({ response: { problem } }: Exchange): string {
  if (problem === null) return '';
  const { type, errors } = problem;
  const found = errors === undefined ? '' : `,"errors":${JSON.stringify(errors.slice(0, MOST_ERRORS).map(shortened))}`;
  return `,"problem":${text(shortType(type))}${found}`;
}

function shortened({ in: part, field, reason }: ProblemError): ProblemError {
  return { in: part, field: field.slice(0, MOST_CHARACTERS), reason: reason.slice(0, MOST_CHARACTERS) };
}

/** The members of a line that are the same for all requests of an operation. */
export function operationMembers({ path, api }: { readonly path: string; readonly api: string }): string {
  return `,"route":${text(path)},"api":${text(api)},"status":`;
}

/** Milliseconds with three decimals. */
function milliseconds(seconds: number): string {
  const micros = Math.round(seconds * 1e6);
  const whole = Math.floor(micros / 1000);
  return `${whole}.${THREE_DIGITS[micros - whole * 1000]}`;
}

/** `members`: those of its operation. */
export function accessLine(
  { exchange, method, status, seconds, requestBytes, responseBytes }: EndedRequest,
  members: string,
): string {
  const consumer = headerOf(exchange.headers, CONSUMER);
  // The method of an operation is a word.
  const methodText = exchange.method === method ? `"${method}"` : text(exchange.method);
  return `{"level":"info","time":"${timestamp(Date.now())}","msg":"request","request_id":${text(exchange.requestId)},"trace_id":"${exchange.traceId}","client_ip":"${exchange.clientIp}","method":${methodText},"path":${text(exchange.path)}${members}${status},"duration_ms":${milliseconds(seconds)},"request_bytes":${requestBytes},"response_bytes":${responseBytes}${refusal(exchange)}${decisions(exchange)}${consumer === undefined ? '' : `,"consumer":${text(consumer)}`}}\n`;
}
