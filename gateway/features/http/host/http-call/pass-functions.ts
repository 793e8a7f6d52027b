/** Options of the next HTTP call: parts of the request that go with it, and that a circuit breaker counts it. */

import { type CapabilityFunction, type HttpCaller, withBody } from '../../../kit.ts';
import type { HttpCallOwn } from './call-of-plugin.ts';

type PassFunction = CapabilityFunction<HttpCallOwn, HttpCaller>;

const http_call_body_pass: PassFunction = {
  signature: ':i',
  parameters: '() -> len',
  meaning:
    "the next `host_http_call` sends the request's body, which stays in the host, in place of its own; reads and validates it as `request_body_length` does",
  waits: true,
  body: 'request_body',
  make:
    (call, { state }) =>
    () =>
      withBody(call, (body) => {
        state.passedBody = body;
        return body?.length ?? 0;
      }),
};

const http_call_headers_pass: PassFunction = {
  signature: ':i',
  parameters: '() -> 0',
  meaning:
    'the next `host_http_call` also sends the headers of the request as `host_http_stream` does, without those of the connection and with `x-forwarded-*`; its own headers replace them',
  make:
    (_, { state }) =>
    () => {
      state.passesHeaders = true;
      return 0;
    },
};

const http_call_breaker_use: PassFunction = {
  signature: ':i',
  parameters: '() -> 0',
  meaning:
    'the next `host_http_call` counts for the circuit breaker of its config and server, and is -6 while that is open: five calls in a row without a response, for 10 s',
  make:
    (_, { state }) =>
    () => {
      state.breaks = true;
      return 0;
    },
};

const http_call_retry_after: PassFunction = {
  signature: ':i',
  parameters: '() -> seconds',
  meaning: 'after -6: seconds until the circuit breaker admits a call',
  make:
    (_, { state }) =>
    () =>
      state.retryAfter,
};

export const passFunctions = {
  http_call_body_pass,
  http_call_headers_pass,
  http_call_breaker_use,
  http_call_retry_after,
};
