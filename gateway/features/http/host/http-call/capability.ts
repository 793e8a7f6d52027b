/** `host_http_call`: a whole HTTP call, and the small calls that read its answer. */

import {
  type Binding,
  type CircuitBreaker,
  capability,
  type Exchange,
  type HeaderList,
  HostCallError,
  HttpCallError,
  type HttpCallFailure,
  MAX_HEADERS,
  MAX_VALUE,
  readHeader,
  transportHeaders,
} from '../../../kit.ts';
import { Breakers, CallOfPlugin } from './call-of-plugin.ts';
import { jsonFunctions } from './json-functions.ts';
import { passFunctions } from './pass-functions.ts';
import { respondFunctions } from './respond-functions.ts';

/** Results below 0; a status otherwise. */
const FAILURES: Readonly<Record<HttpCallFailure, number>> = {
  failed: -1,
  timeout: -2,
  refused: -3,
  'too-large': -4,
  'no-room': -5,
};
const CIRCUIT_OPEN = -6;
/** Failures of the server; after the others it answers, or was not asked. */
const COUNTED: readonly HttpCallFailure[] = ['failed', 'timeout'];
const MAX_TIMEOUT_MS = 300_000;
/** Milliseconds of waiting beyond the call's own time limit, so that the plugin gets the time-out as an answer. */
const GRACE_MS = 1_000;

const METHOD = /^[A-Z]{1,20}$/;
const FIELD = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):([\t\x20-\x7e\x80-\xff]*)$/;

export const httpCall = capability({
  open: ({ http }) => http,
  bind: () => new Breakers(),
  call: () => new CallOfPlugin(),
  functions: {
    ...passFunctions,
    ...jsonFunctions,
    ...respondFunctions,
    host_http_call: {
      signature: 'iiiiiiiiiii:i',
      parameters: '(method, len, url, len, headers, len, body, len, timeout_ms, max_bytes, redirects) -> status',
      meaning:
        'a complete HTTP call through the egress guard ([request and response](#http-calls)). Below 0 if there is no response: -1 no connection or no HTTP, -2 no connection within 10 s or no response within `timeout_ms`, -3 not allowed (an address, plaintext, not http(s), no valid URL, credentials in it), -4 a body of more than `max_bytes`, -5 no room in memory for the body, -6 the circuit breaker is open (`http_call_breaker_use`); the reason is in the log',
      waits: true,
      declared: true,
      relays: true,
      make:
        (call, { loaded, bound, state }) =>
        (
          method,
          methodLength,
          url,
          urlLength,
          headers,
          headersLength,
          body,
          bodyLength,
          timeoutMs,
          maxBytes,
          redirects,
        ) => {
          const { memory } = call;
          const exchange = call.request();
          call.charge(urlLength + headersLength + bodyLength);
          const verb = memory.text(method, methodLength);
          if (!METHOD.test(verb) || verb === 'CONNECT')
            throw new HostCallError(`host_http_call: "${verb}" is not a method`);
          const limit = Math.min(Math.max(timeoutMs, 1), MAX_TIMEOUT_MS);
          const target = memory.text(url, urlLength);
          const breaker = state.breaks ? bound().of(target) : null;
          if (breaker?.admits(exchange.clientIp) === false) {
            state.end();
            state.retryAfter = breaker.retryAfter(exchange.clientIp);
            return CIRCUIT_OPEN;
          }
          const answer = loaded.call({
            method: verb,
            url: target,
            headers: state.headers(exchange, fieldsOf(memory.text(headers, headersLength))),
            body: state.passedBody ?? (bodyLength === 0 ? null : memory.copy(body, bodyLength)),
            timeoutMs: limit,
            redirects: Math.max(redirects, 0),
            ...(maxBytes > 0 ? { maxBytes } : {}),
            exchange,
            holds: true,
          });
          const turn = state.begin();
          const { binding } = call;
          const settled = answer.then(
            (result) => {
              breaker?.succeeded();
              return state.received(turn, result);
            },
            (error: unknown) => {
              if (breaker) countFailure(breaker, exchange, error);
              return failureOf(binding, exchange, error);
            },
          );
          return call.wait(settled, limit + GRACE_MS, (result) => {
            if (typeof result === 'number') return result;
            call.chargeAfterWait(result.body.length);
            return result.status;
          });
        },
    },
    http_call_header_get: {
      signature: 'iiii:i',
      parameters: '(name, len, buf, cap) -> len',
      meaning:
        'a header of the response to the last `host_http_call` of this call; several values are joined with `, `',
      make:
        (call, { state }) =>
        (name, length, buf, cap) =>
          readHeader(call, state.answered().headers, name, length, buf, cap),
    },
    http_call_body_length: {
      signature: ':i',
      parameters: '() -> len',
      meaning: 'bytes of its body',
      make:
        (_, { state }) =>
        () =>
          state.answered().body.length,
    },
    http_call_body_read: {
      signature: 'iii:i',
      parameters: '(offset, buf, cap) -> n',
      meaning: 'its body',
      make:
        (call, { state }) =>
        (offset, buf, cap) => {
          call.charge(cap);
          return call.memory.writeFrom(state.answered().body, offset, buf, cap);
        },
    },
  },
});

function countFailure(breaker: CircuitBreaker, exchange: Exchange, error: unknown): void {
  if (!exchange.closed && error instanceof HttpCallError && COUNTED.includes(error.failure))
    breaker.failed(exchange.clientIp);
  else breaker.abandoned(exchange.clientIp);
}

/** Logs a failure, and returns its code: the plugin decides how to answer. */
function failureOf({ services, name }: Binding, exchange: Exchange, error: unknown): number {
  if (!(error instanceof HttpCallError)) throw error;
  if (!exchange.closed) services.log('warn', name, `host_http_call: ${error.message}`, exchange);
  return FAILURES[error.failure];
}

/** `name: value` lines. */
function fieldsOf(text: string): HeaderList {
  const fields: string[] = [];
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const [, name, value] = FIELD.exec(line) ?? [];
    if (name === undefined || value === undefined || value.length > MAX_VALUE) {
      throw new HostCallError('host_http_call: a header is not a line of "name: value"');
    }
    const lower = name.toLowerCase();
    if (transportHeaders.has(lower)) throw new HostCallError(`host_http_call: the header ${lower} is the gateway's`);
    fields.push(lower, value.trim());
  }
  if (fields.length > MAX_HEADERS * 2) throw new HostCallError('host_http_call: too many headers');
  return fields;
}
