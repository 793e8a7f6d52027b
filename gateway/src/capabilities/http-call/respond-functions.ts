/** An answer to the client made of one that an HTTP call brought: its body does not pass through the plugin's memory. */

import type { CapabilityFunction } from '../../capability/capability.ts';
import { HOP_BY_HOP } from '../../egress/forwarded-headers.ts';
import type { HttpCaller } from '../../egress/http-client.ts';
import { changeHeader, type HeaderList, joinedHeader } from '../../exchange.ts';
import {
  changeOp,
  isFieldValue,
  isToken,
  MAX_HEADERS,
  MAX_VALUE,
  transportHeaders,
} from '../../wasm/host/header-rules.ts';
import { answerWith, finalStatus, MAX_HEADER_BYTES } from '../../wasm/host/response.ts';
import type { HttpCallOwn } from './call-of-plugin.ts';
import { at } from './json-functions.ts';

type RespondFunction = CapabilityFunction<HttpCallOwn, HttpCaller>;

const INVALID = -1;
const LEFT_OUT = 1;

const http_call_respond_header: RespondFunction = {
  signature: 'iiiii:i',
  parameters: '(op, name, len, value, len) -> result',
  meaning:
    "a header of the answer that `http_call_respond` makes, op 0 set or 1 add; what plugins have staged changes it as it changes an upstream's. 0; 1 if it belongs to the connection or to framing, and is left out; -1 if name or value are not valid, or there are too many",
  make:
    (call, { state }) =>
    (op, name, nameLength, value, valueLength) => {
      const field = call.memory.latin1(name, nameLength).toLowerCase();
      const text = call.memory.text(value, valueLength);
      if (!isToken(field) || !isFieldValue(text) || text.length > MAX_VALUE) return INVALID;
      const { headers } = state.response;
      state.response.bytes += field.length + text.length;
      if (headers.length >= MAX_HEADERS * 2 || state.response.bytes > MAX_HEADER_BYTES) return INVALID;
      changeHeader(headers, changeOp(op), field, text);
      return isHop(field) ? LEFT_OUT : 0;
    },
};

const http_call_respond: RespondFunction = {
  signature: 'iiii:i',
  parameters: '(status, pointer, len, base64) -> result',
  meaning:
    'answers as `respond` does, with those headers, and the string at a JSON pointer as the body, which stays in the host; without a body where there is nothing, or null; `base64` 1: it is decoded (RFC 4648, section 4). 0; -1 if there is something else, or it is not Base64: then nothing is answered',
  make:
    (call, { state }) =>
    (status, pointer, length, base64) => {
      const body = bodyOf(at(call, state, pointer, length), base64 !== 0);
      if (body === null) return INVALID;
      call.charge(body.length);
      const headers = endToEnd(state.response.headers);
      answerWith(call, { status: finalStatus(status), headers, body: body.length === 0 ? null : body });
      return 0;
    },
};

export const respondFunctions = { http_call_respond_header, http_call_respond };

const NO_BODY = Buffer.alloc(0);
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** Null where it is no text, or not Base64. Padding may be left out. */
function bodyOf(value: unknown, base64: boolean): Buffer | null {
  if (value === undefined || value === null) return NO_BODY;
  if (typeof value !== 'string') return null;
  if (!base64) return Buffer.from(value);
  const digits = value.replace(/=+$/, '').length;
  return BASE64.test(value) && digits % 4 !== 1 ? Buffer.from(value, 'base64') : null;
}

function isHop(name: string): boolean {
  return HOP_BY_HOP.has(name) || transportHeaders.has(name);
}

/** Without those of the connection, also those that `Connection` names (RFC 9110, section 7.6.1). */
function endToEnd(headers: HeaderList): HeaderList {
  const named = new Set(
    (joinedHeader(headers, 'connection') ?? '').split(',').map((each) => each.trim().toLowerCase()),
  );
  return headers.filter((_, i) => {
    const name = headers[i - (i % 2)] ?? '';
    return !isHop(name) && !named.has(name);
  });
}
