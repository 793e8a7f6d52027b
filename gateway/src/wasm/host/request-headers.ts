/** The request's headers. */
import { changeHeader, type HeaderList } from '../../exchange.ts';
import type { Call } from '../call/call.ts';
import { HostCallError } from '../call/host-call-error.ts';
import type { HostFunctions } from '../call/host-function.ts';
import { AUTH_PREFIX, authValue, changeOp, headerName, headerValue, MAX_CLAIMS, MAX_HEADERS } from './header-rules.ts';

export const requestHeaderFunctions: HostFunctions = {
  request_header_get: {
    signature: 'iiii:i',
    make: (call) => (name, length, buf, cap) => readHeader(call, call.request().headers, name, length, buf, cap),
  },
  request_header_at: {
    signature: 'iiii:i',
    make: (call) => (index, part, buf, cap) => {
      const { headers } = call.request();
      return call.memory.writeText(headers[(index >>> 0) * 2 + (part & 1)], buf, cap);
    },
  },
  request_header_change: {
    signature: 'iiiii:',
    make: (call) => (op, name, nameLength, value, valueLength) => {
      changeRequestHeader(call, op, name, nameLength, value, valueLength);
    },
  },
};

/**
 * Writes all values of a header joined (cookies with `; `, RFC 9113 section 8.2.3) to the plugin; returns -1 if absent.
 */
export function readHeader(
  call: Call,
  headers: HeaderList,
  name: number,
  length: number,
  buf: number,
  cap: number,
): number {
  const { memory } = call;
  let value: string | undefined;
  for (let i = 0; i < headers.length; i += 2) {
    const candidate = headers[i] ?? '';
    if (!memory.spells(candidate, name, length)) continue;
    const next = headers[i + 1] ?? '';
    value = value === undefined ? next : `${value}${candidate === 'cookie' ? '; ' : ', '}${next}`;
  }
  if (value !== undefined) call.charge(value.length);
  return memory.writeText(value, buf, cap);
}

function changeRequestHeader(
  call: Call,
  opCode: number,
  name: number,
  nameLength: number,
  value: number,
  valueLength: number,
): void {
  const exchange = call.request();
  const op = changeOp(opCode);
  const header = headerName(call, name, nameLength);
  if (op !== 'remove' && exchange.headers.length >= MAX_HEADERS * 2)
    throw new HostCallError('too many request headers');
  if (op !== 'remove') call.holdMore(valueLength >>> 0);
  if (!header.startsWith(AUTH_PREFIX)) {
    changeHeader(exchange.headers, op, header, op === 'remove' ? '' : headerValue(call, header, value, valueLength));
    return;
  }
  if (!call.binding.authenticates) {
    throw new HostCallError(`the header ${header} may be changed only by a plugin with \`authenticates = true\``);
  }
  if (header === 'x-auth-claims' && valueLength >>> 0 > MAX_CLAIMS) return leaveOutClaims(call, valueLength >>> 0);
  const text = op === 'remove' ? '' : authValue(call, header, value, valueLength);
  if (header === 'x-auth-claims' && text.length > MAX_CLAIMS) return leaveOutClaims(call, text.length);
  changeHeader(exchange.headers, op, header, text);
}

/** docs/decisions.md#identity-headers */
function leaveOutClaims(call: Call, bytes: number): void {
  const exchange = call.request();
  changeHeader(exchange.headers, 'remove', 'x-auth-claims', '');
  exchange.claimsLeftOut = true;
  const { services, name } = call.binding;
  services.log('warn', name, `x-auth-claims left out: ${bytes} bytes, of at most ${MAX_CLAIMS}`, exchange);
}
