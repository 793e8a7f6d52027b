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

let second = 0;
let prefix = '';

/** ISO 8601 in UTC; the part to the second is kept while it holds. */
export function timestamp(now: number): string {
  const whole = Math.floor(now / 1000);
  if (whole !== second) {
    second = whole;
    prefix = new Date(whole * 1000).toISOString().slice(0, 20);
  }
  return `${prefix}${String(now % 1000).padStart(3, '0')}Z`;
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

export function accessLine({
  exchange,
  route,
  api,
  status,
  seconds,
  requestBytes,
  responseBytes,
}: EndedRequest): string {
  const consumer = headerOf(exchange.headers, CONSUMER);
  return `{"level":"info","time":"${timestamp(Date.now())}","msg":"request","request_id":${text(exchange.requestId)},"trace_id":"${exchange.traceId}","client_ip":"${exchange.clientIp}","method":${text(exchange.method)},"path":${text(exchange.path)},"route":${text(route)},"api":${text(api)},"status":${status},"duration_ms":${(seconds * 1000).toFixed(3)},"request_bytes":${requestBytes},"response_bytes":${responseBytes}${refusal(exchange)}${decisions(exchange)}${consumer === undefined ? '' : `,"consumer":${text(consumer)}`}}\n`;
}
