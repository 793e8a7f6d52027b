/** An entry about a request that has ended: a line of JSON with the fields that a config names. */
import { type EndedRequest, headerOf } from '../../../../src/exchange.ts';
import { text, timestamp } from '../../../../src/telemetry/access-log.ts';
import { observedValues } from '../observations/observed-request.ts';

/** Returns the member's value as JSON; null if the request has no value. */
type Field = (ended: EndedRequest) => string | null;

function optional(value: string | undefined): string | null {
  return value === undefined ? null : text(value);
}

/** Named as in the access log; `docs/observability.md` says what they mean. They never hold a body or a credential. */
const FIELDS = {
  time: () => text(timestamp(Date.now())),
  request_id: ({ x }) => text(x.requestId),
  trace_id: ({ x }) => text(x.traceId),
  client_ip: ({ x }) => text(x.clientIp),
  method: ({ x }) => text(x.method),
  scheme: ({ x }) => text(x.scheme),
  host: ({ x }) => optional(headerOf(x.headers, 'host')),
  path: ({ x }) => text(x.path),
  query: ({ x }) => optional(x.target.includes('?') ? x.target.slice(x.path.length + 1) : undefined),
  route: ({ route }) => text(route),
  operation_id: ({ x }) => optional(x.operation?.operationId),
  api: ({ api }) => text(api),
  user_agent: ({ x }) => optional(headerOf(x.headers, 'user-agent')),
  status: ({ status }) => String(status),
  duration_ms: ({ seconds }) => (seconds * 1000).toFixed(3),
  upstream_ms: ({ x }) => x.dispatchMs?.toFixed(3) ?? null,
  request_bytes: ({ requestBytes }) => String(requestBytes),
  response_bytes: ({ responseBytes }) => String(responseBytes),
  plugin: ({ x }) => optional(x.decidedBy ?? undefined),
  decision: ({ x }) => (x.decidedBy === null ? null : text(x.decision)),
  consumer: ({ x }) => optional(headerOf(x.headers, 'x-auth-consumer')),
  observed: ({ x }) => observedValues(x),
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
