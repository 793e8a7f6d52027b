/** Answering, and the status and headers of a response. */
import { type Answer, changeHeader, type PendingResponse } from '../../exchange.ts';
import { PROBLEM_PREFIX, type Problem } from '../../problems.ts';
import type { Call } from '../call/call.ts';
import { HostCallError } from '../call/host-call-error.ts';
import type { HostFunctions } from '../call/host-function.ts';
import { changeOp, headerName, headerValue, MAX_HEADERS } from './header-rules.ts';
import { readHeader } from './request-headers.ts';

/** A final status (RFC 9110, section 15); informational ones are the transport's. */
export function finalStatus(status: number): number {
  if (status < 200 || status > 599) throw new HostCallError(`${status} is not the status of a response`);
  return status;
}

export function answerWith(call: Call, answer: Answer): void {
  const { hook } = call;
  if (hook !== 'on_request' && hook !== 'on_response' && hook !== 'dispatch') {
    throw new HostCallError(`a plugin cannot answer in ${hook}`);
  }
  call.request().answer = answer;
  call.responded = true;
}

export const responseFunctions: HostFunctions = {
  respond: {
    signature: 'iii:',
    make: (call) => (status, body, length) => {
      call.charge(length);
      const bytes = length === 0 ? null : call.memory.copy(body, length);
      answerWith(call, { status: finalStatus(status), body: bytes });
    },
  },
  respond_problem: {
    signature: 'iiiiiiiii:',
    make: (call) => (status, type, typeLength, title, titleLength, detail, detailLength, members, membersLength) => {
      const { memory } = call;
      call.charge(titleLength + detailLength + membersLength);
      const base = {
        status: finalStatus(status),
        type: PROBLEM_PREFIX + memory.text(type, typeLength),
        title: memory.text(title, titleLength),
      };
      const more = problemMembers(memory.text(members, membersLength));
      const problem: Problem = {
        ...base,
        ...(detailLength === 0 ? {} : { detail: memory.text(detail, detailLength) }),
        ...(more === undefined ? {} : { members: more }),
      };
      answerWith(call, { problem });
    },
  },
  response_header_change: {
    signature: 'iiiii:',
    make: (call) => (opCode, name, nameLength, value, valueLength) => {
      const { response } = call.request();
      const op = changeOp(opCode);
      const header = headerName(call, name, nameLength);
      const text = op === 'remove' ? '' : headerValue(call, header, value, valueLength);
      if (op !== 'remove') countHeader(response, header, text);
      if (call.hook === 'on_response') {
        if (op !== 'remove' && response.headers.length >= MAX_HEADERS * 2) throw tooMany();
        changeHeader(response.headers, op, header, text);
        call.changes ??= [];
        if (call.changes.length >= MAX_HEADERS) throw tooMany();
        call.changes.push({ op, name: header, value: text });
        return;
      }
      response.staged ??= [];
      if (response.staged.length >= MAX_HEADERS) throw tooMany();
      response.staged.push({ op, name: header, value: text });
    },
  },
  response_status: { signature: ':i', make: (call) => () => call.response().status },
  response_status_set: {
    signature: 'i:',
    make: (call) => (status) => {
      call.response().status = finalStatus(status);
    },
  },
  response_header_get: {
    signature: 'iiii:i',
    make: (call) => (name, length, buf, cap) => readHeader(call, call.response().headers, name, length, buf, cap),
  },
  response_body_pass: {
    signature: ':',
    body: 'response_body',
    make: (call) => () => {
      if (call.hook !== 'init') throw new HostCallError(`response_body_pass is for init, not ${call.hook}`);
      call.passesResponse = true;
    },
  },
  response_body_length: {
    signature: ':i',
    body: 'response_body',
    make: (call) => () => bodyOf(call.response()).length,
  },
  response_body_read: {
    signature: 'iii:i',
    body: 'response_body',
    make: (call) => (offset, buf, cap) => {
      call.charge(cap);
      return call.memory.writeFrom(bodyOf(call.response()), offset, buf, cap);
    },
  },
  response_body_set: {
    signature: 'ii:',
    body: 'response_body',
    make: (call) => (pointer, length) => {
      call.charge(length);
      call.response().body = call.memory.copy(pointer, length);
    },
  },
};

const NO_BYTES = new Uint8Array(0);

/** The body in memory; text is encoded once. */
function bodyOf(response: PendingResponse): Uint8Array {
  if (typeof response.body === 'string') response.body = Buffer.from(response.body);
  return response.body ?? NO_BYTES;
}

/** Limit for all plugins of one request: clients take no more, and pending headers are held in memory. */
export const MAX_HEADER_BYTES = 65_536;

function countHeader(response: PendingResponse, name: string, value: string): void {
  response.headerBytes += name.length + value.length;
  if (response.headerBytes > MAX_HEADER_BYTES)
    throw new HostCallError(`more than ${MAX_HEADER_BYTES} bytes of response headers`);
}

function tooMany(): HostCallError {
  return new HostCallError(`more than ${MAX_HEADERS} response headers`);
}

function problemMembers(text: string): { readonly [name: string]: unknown } | undefined {
  if (text === '') return undefined;
  let members: unknown;
  try {
    members = JSON.parse(text);
  } catch {
    members = undefined;
  }
  if (typeof members !== 'object' || members === null || Array.isArray(members)) {
    throw new HostCallError('respond_problem: the members are not a JSON object');
  }
  return { ...members };
}
