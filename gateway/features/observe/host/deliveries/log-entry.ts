/** An entry about a request that has ended: a line of JSON with the fields that a config names. */

import { type EndedRequest, headerOf, text, timestamp } from '../../../kit.ts';
import { observedValues } from '../observations/observed-request.ts';

/** Returns the member's value as JSON; null if the request has no value. */
type Field = (ended: EndedRequest) => string | null;

function optional(value: string | undefined): string | null {
  return value === undefined ? null : text(value);
}

/** Named as in the access log; `docs/observability.md` says what they mean. They never hold a body or a credential. */
const FIELDS = {
  time: () => text(timestamp(Date.now())),
  request_id: ({ exchange }) => text(exchange.requestId),
  trace_id: ({ exchange }) => text(exchange.traceId),
  client_ip: ({ exchange }) => text(exchange.clientIp),
  method: ({ exchange }) => text(exchange.method),
  scheme: ({ exchange }) => text(exchange.scheme),
  host: ({ exchange }) => optional(headerOf(exchange.headers, 'host')),
  path: ({ exchange }) => text(exchange.path),
  query: ({ exchange }) =>
    optional(exchange.target.includes('?') ? exchange.target.slice(exchange.path.length + 1) : undefined),
  route: ({ route }) => text(route),
  operation_id: ({ exchange }) => optional(exchange.operation?.operationId),
  api: ({ api }) => text(api),
  user_agent: ({ exchange }) => optional(headerOf(exchange.headers, 'user-agent')),
  status: ({ status }) => String(status),
  duration_ms: ({ seconds }) => (seconds * 1000).toFixed(3),
  upstream_ms: ({ exchange }) => exchange.outcome.dispatchMs?.toFixed(3) ?? null,
  request_bytes: ({ requestBytes }) => String(requestBytes),
  response_bytes: ({ responseBytes }) => String(responseBytes),
  plugin: ({ exchange }) => optional(exchange.outcome.decidedBy ?? undefined),
  decision: ({ exchange }) => (exchange.outcome.decidedBy === null ? null : text(exchange.outcome.decision)),
  consumer: ({ exchange }) => optional(headerOf(exchange.headers, 'x-auth-consumer')),
  observed: ({ exchange }) => observedValues(exchange),
} satisfies Record<string, Field>;

/**
 * Longest value, in characters: clients may send paths and headers of megabytes; longer ones are cut. Observed values
 * are cut already.
 */
const LONGEST = 8_192;

function isField(name: string): name is keyof typeof FIELDS {
  return Object.hasOwn(FIELDS, name);
}

/** Makes entries with these fields, in this order. Returns null if a name is unknown. */
export function entryWriter(names: readonly string[]): ((ended: EndedRequest) => string) | null {
  if (!names.every(isField)) return null;
  const members = names.map((name) => ({ start: `"${name}":`, value: FIELDS[name] as Field }));
  return (ended) => {
    let entry = '';
    for (const { start, value } of members) {
      const json = value(ended);
      if (json !== null) entry += `${entry === '' ? '{' : ','}${start}${cut(json)}`;
    }
    return entry === '' ? '{}' : `${entry}}`;
  };
}

function cut(json: string): string {
  if (json.length <= LONGEST || !json.startsWith('"')) return json;
  return JSON.stringify(`${String(JSON.parse(json)).slice(0, LONGEST).toWellFormed()}…`);
}
