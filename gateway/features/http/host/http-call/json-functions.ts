/** The answer of an HTTP call as JSON, which the host reads. */

import { type Call, type CapabilityFunction, type HttpCaller, valueAt } from '../../../kit.ts';
import type { CallOfPlugin, HttpCallOwn } from './call-of-plugin.ts';

type JsonFunction = CapabilityFunction<HttpCallOwn, HttpCaller>;

/** Codes by their numbers in sdk/ABI.md. */
const UNREAD = { 'no-room': -2, 'too-costly': -3 };
const TYPES = ['null', 'boolean', 'number', 'string', 'array', 'object'];

const http_call_json_type: JsonFunction = {
  signature: 'ii:i',
  parameters: '(pointer, len) -> type',
  meaning:
    "type of the value at a JSON pointer of the last response's body: 0 null, 1 boolean, 2 number, 3 string, 4 array, 5 object; -1 if there is none, or the body is not JSON or has an object with a member twice; -2 if there is no room in memory for its values; -3 if it takes too long to parse, such as more than 8 MiB (the reason is in the log)",
  make:
    (call, { state }) =>
    (pointer, length) => {
      const value = at(call, state, pointer, length);
      return state.unread === null ? TYPES.indexOf(typeOf(value)) : UNREAD[state.unread];
    },
};

const http_call_json_get: JsonFunction = {
  signature: 'iiii:i',
  parameters: '(pointer, len, buf, cap) -> len',
  meaning: 'the value there: strings as they are, everything else as JSON text',
  make:
    (call, { state }) =>
    (pointer, length, buf, cap) => {
      const value = at(call, state, pointer, length);
      const text = value === undefined || typeof value === 'string' ? value : JSON.stringify(value);
      call.charge(text?.length ?? 0);
      return call.memory.writeText(text, buf, cap);
    },
};

const http_call_json_count: JsonFunction = {
  signature: 'ii:i',
  parameters: '(pointer, len) -> n',
  meaning: 'elements of an array or members of an object there, -1 for others',
  make:
    (call, { state }) =>
    (pointer, length) => {
      const value = at(call, state, pointer, length);
      if (typeof value !== 'object' || value === null) return -1;
      return Array.isArray(value) ? value.length : Object.keys(value).length;
    },
};

const http_call_json_key: JsonFunction = {
  signature: 'iiiii:i',
  parameters: '(pointer, len, index, buf, cap) -> len',
  meaning: 'name of a member of the object there',
  make:
    (call, { state }) =>
    (pointer, length, index, buf, cap) => {
      const value = at(call, state, pointer, length);
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return -1;
      const names = Object.keys(value);
      call.charge(names.length * 16);
      return call.memory.writeText(names[index >>> 0], buf, cap);
    },
};

export const jsonFunctions = {
  http_call_json_type,
  http_call_json_get,
  http_call_json_count,
  http_call_json_key,
};

/** The value at the pointer that is in the plugin's memory. */
export function at(call: Call, state: CallOfPlugin, pointer: number, length: number): unknown {
  return valueAt(state.json(call), call.memory.jsonPointer(pointer, length));
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
