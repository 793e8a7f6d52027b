/** The request line, query and path parameters. */
import { clientNetwork } from '../../client-network.ts';
import type { Exchange } from '../../exchange.ts';
import { HostCallError } from '../call/host-call-error.ts';
import type { HostFunctions } from '../call/host-function.ts';
import { changeOp } from './header-rules.ts';

/** Longest query that a plugin may make. */
const MAX_QUERY = 65_536;

/** The fields of `request_get`, by their number in the ABI. */
const fields: readonly ((exchange: Exchange) => string | undefined)[] = [
  (exchange) => exchange.method,
  (exchange) => exchange.path,
  (exchange) => exchange.query,
  (exchange) => exchange.clientIp,
  (exchange) => exchange.operation?.path,
  (exchange) => exchange.operation?.operationId,
  (exchange) => exchange.scheme,
  (exchange) => exchange.target,
  (exchange) => clientNetwork(exchange.clientIp),
];

export const requestFunctions: HostFunctions = {
  request_get: {
    signature: 'iii:i',
    make: (call) => (field, buf, cap) => {
      const read = fields[field];
      if (read === undefined) throw new HostCallError(`request_get: there is no field ${field}`);
      return call.memory.writeText(read(call.request()), buf, cap);
    },
  },
  request_query_get: {
    signature: 'iiii:i',
    make: (call) => (name, length, buf, cap) => {
      const { query } = call.request();
      if (query === undefined) return call.memory.writeText(undefined, buf, cap);
      call.charge(query.length);
      return call.memory.writeText(queryValue(query, call.memory.text(name, length)), buf, cap);
    },
  },
  request_query_change: {
    signature: 'iiiii:',
    make: (call) => (opCode, name, nameLength, value, valueLength) => {
      const exchange = call.request();
      const op = changeOp(opCode);
      const parameter = call.memory.text(name, nameLength);
      call.charge((exchange.query?.length ?? 0) + nameLength + valueLength);
      if (op !== 'add' && exchange.query !== undefined) exchange.query = withoutParameter(exchange.query, parameter);
      if (op === 'remove') return;
      const pair = `${encodeURIComponent(parameter)}=${encodeURIComponent(call.memory.text(value, valueLength))}`;
      const query = exchange.query ? `${exchange.query}&${pair}` : pair;
      if (query.length > MAX_QUERY) throw new HostCallError(`a query of more than ${MAX_QUERY} bytes`);
      exchange.query = query;
    },
  },
  path_param_get: pathParam((exchange) => exchange.params),
  path_param_sent: pathParam((exchange) => exchange.sentParams),
};

/** The value of a path parameter out of `values`, which are in the order of the names. */
function pathParam(values: (exchange: Exchange) => readonly string[]): HostFunctions[string] {
  return {
    signature: 'iiii:i',
    make: (call) => (name, length, buf, cap) => {
      const exchange = call.request();
      const names = exchange.operation?.paramNames ?? [];
      const wanted = call.memory.text(name, length);
      return call.memory.writeText(values(exchange)[names.indexOf(wanted)], buf, cap);
    },
  };
}

/** Decodes a name or value of a query, as forms encode it; returns malformed ones unchanged. */
function decoded(text: string): string {
  if (!text.includes('%') && !text.includes('+')) return text;
  const spaced = text.replaceAll('+', ' ');
  try {
    return decodeURIComponent(spaced);
  } catch {
    return spaced;
  }
}

function parameterName(pair: string): string {
  const equals = pair.indexOf('=');
  return decoded(equals < 0 ? pair : pair.slice(0, equals));
}

function queryValue(query: string, name: string): string | undefined {
  for (const pair of query.split('&')) {
    if (pair === '' || parameterName(pair) !== name) continue;
    const equals = pair.indexOf('=');
    return equals < 0 ? '' : decoded(pair.slice(equals + 1));
  }
  return undefined;
}

/** The others stay exactly as they were sent. */
function withoutParameter(query: string, name: string): string | undefined {
  const pairs = query.split('&');
  const kept = pairs.filter((pair) => pair === '' || parameterName(pair) !== name);
  if (kept.length === pairs.length) return query;
  return kept.length === 0 ? undefined : kept.join('&');
}
