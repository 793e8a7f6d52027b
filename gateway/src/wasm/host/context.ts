/** Messages between plugins about a request, and values that one plugin keeps between its hooks. */
import type { Exchange } from '../../exchange.ts';
import type { Call } from '../call/call.ts';
import { HostCallError } from '../call/host-call-error.ts';
import type { HostFunctions } from '../call/host-function.ts';

/** Most entries, and longest value in bytes, so that no request can be made to hold more than a few MiB. */
const MAX_ENTRIES = 64;
const MAX_VALUE = 65_536;
const MAX_KEY = 256;

export const contextFunctions: HostFunctions = {
  context_get: {
    signature: 'iiii:i',
    make: (call) => (key, length, buf, cap) => {
      const { context } = call.request();
      const value = context?.get(call.memory.text(key, length));
      if (value !== undefined) call.charge(value.length);
      return call.memory.writeText(value, buf, cap);
    },
  },
  context_set: {
    signature: 'iiii:',
    make: (call) => (key, keyLength, value, valueLength) => {
      const exchange = call.request();
      exchange.context ??= new Map();
      const name = roomFor(call, exchange.context, key, keyLength, valueLength);
      call.holdMore(valueLength - (exchange.context.get(name)?.length ?? 0));
      exchange.context.set(name, call.memory.text(value, valueLength));
    },
  },
  state_get: {
    signature: 'iiii:i',
    make: (call) => (key, length, buf, cap) => {
      const value = statesOf(call, call.request())?.get(call.memory.text(key, length));
      if (value !== undefined) call.charge(value.length);
      return call.memory.writeWhole(value, buf, cap);
    },
  },
  state_set: {
    signature: 'iiii:',
    make: (call) => (key, keyLength, value, valueLength) => {
      const exchange = call.request();
      const { owner } = call.binding;
      if (owner === null) throw new HostCallError('there is no request in init');
      exchange.states ??= new Map();
      const states = exchange.states.get(owner) ?? new Map<string, Uint8Array>();
      exchange.states.set(owner, states);
      const name = roomFor(call, states, key, keyLength, valueLength);
      call.holdMore(valueLength - (states.get(name)?.length ?? 0));
      states.set(name, call.memory.copy(value, valueLength));
    },
  },
};

function statesOf(call: Call, exchange: Exchange): ReadonlyMap<string, Uint8Array> | undefined {
  return call.binding.owner === null ? undefined : exchange.states?.get(call.binding.owner);
}

function roomFor(
  call: Call,
  map: ReadonlyMap<string, unknown>,
  key: number,
  keyLength: number,
  valueLength: number,
): string {
  if (keyLength >>> 0 > MAX_KEY) throw new HostCallError(`a key of more than ${MAX_KEY} bytes`);
  if (valueLength >>> 0 > MAX_VALUE) throw new HostCallError(`a value of more than ${MAX_VALUE} bytes`);
  call.charge(valueLength);
  const name = call.memory.text(key, keyLength);
  if (map.size >= MAX_ENTRIES && !map.has(name))
    throw new HostCallError(`more than ${MAX_ENTRIES} values for a request`);
  return name;
}
