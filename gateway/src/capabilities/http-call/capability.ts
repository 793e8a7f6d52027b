/** `host_http_call`: a whole HTTP call, and the small calls that read its answer. */
import { type HttpAnswer, HttpCallError, type HttpCallFailure } from '../../egress/http-client.ts';
import type { Exchange, HeaderList } from '../../exchange.ts';
import type { Binding, Call } from '../../wasm/call.ts';
import { HostCallError } from '../../wasm/failures.ts';
import { MAX_HEADERS, MAX_VALUE, transportHeaders } from '../../wasm/host/header-rules.ts';
import type { HostFunctions } from '../../wasm/host/host-function.ts';
import { readHeader } from '../../wasm/host/request-headers.ts';

/** Results below 0; a status otherwise. */
const FAILURES: Readonly<Record<HttpCallFailure, number>> = { failed: -1, timeout: -2, refused: -3, 'too-large': -4 };
const MAX_TIMEOUT_MS = 300_000;
/** What the wait may take beyond the call's own time, so that its end is an answer to the plugin. */
const GRACE_MS = 1_000;

const METHOD = /^[A-Z]{1,20}$/;
const FIELD = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):([\t\x20-\x7e\x80-\xff]*)$/;

export const httpCallFunctions: HostFunctions = {
  host_http_call: {
    signature: 'iiiiiiiiiii:i',
    waits: true,
    declared: true,
    make:
      (call) =>
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
        const x = call.request();
        call.charge(urlLength + headersLength + bodyLength);
        const verb = memory.text(method, methodLength);
        if (!METHOD.test(verb) || verb === 'CONNECT') throw new HostCallError(`host_http_call: "${verb}" is no method`);
        const limit = Math.min(Math.max(timeoutMs, 1), MAX_TIMEOUT_MS);
        const answer = call.binding.services.http.call({
          method: verb,
          url: memory.text(url, urlLength),
          headers: fieldsOf(memory.text(headers, headersLength)),
          body: bodyLength === 0 ? null : memory.copy(body, bodyLength),
          timeoutMs: limit,
          redirects: Math.max(redirects, 0),
          ...(maxBytes > 0 ? { maxBytes } : {}),
          exchange: x,
        });
        call.httpAnswer = null;
        const { binding } = call;
        const settled = answer.catch((error: unknown) => failureOf(binding, x, error));
        return call.wait(settled, limit + GRACE_MS, (result) => {
          if (typeof result === 'number') return result;
          call.httpAnswer = result;
          return result.status;
        });
      },
  },
  http_call_header_get: {
    signature: 'iiii:i',
    make: (call) => (name, length, buf, cap) => readHeader(call, answerOf(call).headers, name, length, buf, cap),
  },
  http_call_body_length: { signature: ':i', make: (call) => () => answerOf(call).body.length },
  http_call_body_read: {
    signature: 'iii:i',
    make: (call) => (offset, buf, cap) => {
      call.charge(cap);
      return call.memory.writeFrom(answerOf(call).body, offset, buf, cap);
    },
  },
};

function answerOf(call: Call): HttpAnswer {
  if (call.httpAnswer === null) throw new HostCallError('there is no answer of host_http_call to read');
  return call.httpAnswer;
}

/** The plugin decides what a failure means for the request; the log says what it was. */
function failureOf({ services, name }: Binding, x: Exchange, error: unknown): number {
  if (!(error instanceof HttpCallError)) throw error;
  if (!x.closed) services.log('warn', name, `host_http_call: ${error.message}`, x);
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
