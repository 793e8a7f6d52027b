/** The header changes that plugins may make, and their form on the wire. */
import type { HeaderOp } from '../../exchange.ts';
import { isFieldValue } from '../../headers/field-syntax.ts';
import { internalized } from '../../text/internalized.ts';
import type { Call } from '../call/call.ts';
import { HostCallError } from '../call/host-call-error.ts';

/** Headers of the connection and of the message's framing belong to the transport (RFC 9110, sections 7.6.1 and 8.6). */
export const transportHeaders: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

const token = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;

/** Reports whether it is a header name in lower case. */
export function isToken(name: string): boolean {
  return name.length <= MAX_NAME && token.test(name);
}

/** Bytes of the longest header name. */
const MAX_NAME = 256;
/** Longest value, and most entries of a header list, that a plugin may make. */
export const MAX_VALUE = 32_768;
export const MAX_HEADERS = 256;

const ops: readonly HeaderOp[] = ['set', 'add', 'remove'];

export function changeOp(op: number): HeaderOp {
  const name = ops[op];
  if (name === undefined) throw new HostCallError(`there is no operation ${op}`);
  return name;
}

/** Names that have passed, as they were spelt, in lower case; plugins use few. */
const known = new Map<string, string>();
const MAX_KNOWN = 1_000;

/** Returns the name in lower case; throws if it is not a token, or belongs to the transport. */
export function headerName(call: Call, pointer: number, length: number): string {
  if (length >>> 0 > MAX_NAME) throw new HostCallError(`a header name of more than ${MAX_NAME} bytes`);
  const spelt = call.memory.latin1(pointer, length);
  const before = known.get(spelt);
  if (before !== undefined) return before;
  const name = spelt.toLowerCase();
  if (!token.test(name)) throw new HostCallError(`"${name}" is not a header name`);
  if (transportHeaders.has(name)) {
    throw new HostCallError(`the header ${name} is the gateway's: a plugin cannot change it`);
  }
  if (known.size >= MAX_KNOWN) return name;
  const only = internalized(name);
  known.set(spelt, only);
  return only;
}

/** Returns the value; throws if it has a line break or another control character, or is too long. */
export function headerValue(call: Call, name: string, pointer: number, length: number): string {
  if (length >>> 0 > MAX_VALUE) throw new HostCallError(`a value of ${length >>> 0} bytes for the header ${name}`);
  call.charge(length);
  const value = call.memory.text(pointer, length);
  if (!isFieldValue(value)) throw new HostCallError(`the value of the header ${name} holds a forbidden character`);
  return value;
}

export const AUTH_PREFIX = 'x-auth-';
/** `x-auth-claims` past this is left out (docs/decisions.md#identity-headers). */
export const MAX_CLAIMS = 8192;

/**
 * Values that readers of the header keep unchanged: printable ASCII, without a blank at an end, which readers remove.
 */
const PLAIN_AUTH = /^(?! )[\x20-\x7e]*(?<! )$/;

/**
 * Returns an `x-auth-*` value: printable ASCII; every other byte, and a blank at either end, is percent-encoded
 * (docs/decisions.md#identity-headers). It encodes bytes: decoding would make different malformed texts equal.
 */
export function authValue(call: Call, name: string, pointer: number, length: number): string {
  if (length >>> 0 > MAX_VALUE) throw new HostCallError(`a value of ${length >>> 0} bytes for the header ${name}`);
  call.charge(length);
  const bytes = call.memory.latin1(pointer, length);
  if (PLAIN_AUTH.test(bytes)) return bytes;
  const inner = bytes.replace(/[^\x20-\x7e]/g, percentEncoded);
  return inner.replace(/^ | $/g, percentEncoded);
}

function percentEncoded(byte: string): string {
  return `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
}
