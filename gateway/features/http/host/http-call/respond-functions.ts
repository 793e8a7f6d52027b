/** Answers the client with the answer of an HTTP call, whose body does not pass through the plugin's memory. */

import {
  answerWith,
  type CapabilityFunction,
  changeHeader,
  finalStatus,
  type HeaderList,
  HOP_BY_HOP,
  type HttpCaller,
  isFieldValue,
  isToken,
  joinedHeader,
  MAX_HEADER_BYTES,
  MAX_HEADERS,
  MAX_VALUE,
  transportHeaders,
} from '../../../kit.ts';
import type { CallOfPlugin, HttpCallOwn } from './call-of-plugin.ts';
import { at } from './json-functions.ts';

type RespondFunction = CapabilityFunction<HttpCallOwn, HttpCaller>;

const INVALID = -1;

const http_call_respond_headers: RespondFunction = {
  signature: 'iii:i',
  parameters: '(pointer, len, lists) -> result',
  meaning:
    "headers of the answer that `http_call_respond` makes, in place of others of their names: the members of the object at a JSON pointer of the last response's body, each a string, number or boolean, with `lists` 1 a list of them. Those of the connection and of framing are left out; what plugins have staged changes them as it changes an upstream's. 0; -1 if there is something else, a name or value is not valid, or there are too many",
  make:
    (call, { state }) =>
    (pointer, length, lists) => {
      const value = at(call, state, pointer, length);
      if (value === undefined || value === null) return 0;
      if (typeof value !== 'object' || Array.isArray(value)) return INVALID;
      const all = Object.entries(value);
      return all.every(([name, each]) => addHeader(state.response, name, lists === 0 ? [each] : each)) ? 0 : INVALID;
    },
};

const http_call_respond_header: RespondFunction = {
  signature: 'iiii:i',
  parameters: '(name, len, pointer, len) -> result',
  meaning: 'the same for one header: the list at a JSON pointer has its values',
  make:
    (call, { state }) =>
    (name, nameLength, pointer, length) => {
      const values = at(call, state, pointer, length) ?? [];
      return addHeader(state.response, call.memory.latin1(name, nameLength), values) ? 0 : INVALID;
    },
};

const http_call_respond: RespondFunction = {
  signature: 'iiii:i',
  parameters: '(status, pointer, len, base64) -> result',
  meaning:
    'answers as `respond` does, with those headers, and the string at a JSON pointer as the body, which stays in the host; without a body if the value is absent or null; `base64` 1: it is decoded (RFC 4648, section 4). 0; -1 if the value is not a string, or not Base64: then it answers nothing',
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

export const respondFunctions = { http_call_respond_headers, http_call_respond_header, http_call_respond };

/** Returns false if the header is malformed, or there are too many. */
function addHeader(response: CallOfPlugin['response'], spelt: string, values: unknown): boolean {
  const name = spelt.toLowerCase();
  if (!Array.isArray(values) || !isToken(name)) return false;
  changeHeader(response.headers, 'remove', name, '');
  return values.every((value) => {
    const text = textOf(value);
    if (text === null || text.length > MAX_VALUE || !isFieldValue(text)) return false;
    response.bytes += name.length + text.length;
    response.headers.push(name, text);
    return response.headers.length <= MAX_HEADERS * 2 && response.bytes <= MAX_HEADER_BYTES;
  });
}

function textOf(value: unknown): string | null {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : null;
}

const NO_BODY = Buffer.alloc(0);
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** Returns null if the value is not a string, or not Base64. Padding may be left out. */
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
