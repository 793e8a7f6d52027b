/** A request of the gateway's own to one of its operations, for the client of an MCP request and with its credentials. */
import { Exchange, type HeaderList, headerOf } from '../exchange.ts';
import type { CapturedResponse } from '../own-request/captured-response.ts';
import { InMemoryBody } from '../own-request/in-memory-body.ts';
import { traceparentOf } from '../telemetry/trace-context.ts';
import type { ToolRequest } from './tool-request.ts';

/**
 * Headers of the MCP request that are its own: those that describe its body and connection, negotiate its answer, and
 * come from its client's browser. All others are passed on, and the operation admits those that it declares.
 */
const OWN = new Set([
  ...['content-type', 'content-length', 'content-encoding', 'transfer-encoding', 'expect', 'range', 'te', 'trailer'],
  ...['accept', 'accept-encoding', 'accept-charset', 'cache-control', 'pragma', 'upgrade', 'keep-alive', 'origin'],
  ...['last-event-id', 'x-request-id', 'traceparent', 'referer', 'connection'],
]);
const OWN_PREFIXES = ['if-', 'mcp-', 'sec-', 'access-control-'];

/** Makes an exchange with the address, the client certificate and the request id of `outer`. */
export function ownExchange(outer: Exchange, request: ToolRequest, response: CapturedResponse): Exchange {
  const exchange = new Exchange(response, {
    method: request.method,
    target: request.target,
    scheme: outer.scheme,
    headers: headersOf(outer, request),
    clientIp: outer.peer,
    body: request.body === null ? null : new InMemoryBody(request.body.bytes),
  });
  exchange.clientCertificate = outer.clientCertificate;
  return exchange;
}

function headersOf(outer: Exchange, { headers, cookies, body }: ToolRequest): HeaderList {
  const given = new Set(headers.filter((_, i) => i % 2 === 0));
  const passed: HeaderList = [];
  for (let i = 0; i < outer.headers.length; i += 2) {
    const name = String(outer.headers[i]);
    if (OWN.has(name) || given.has(name) || OWN_PREFIXES.some((prefix) => name.startsWith(prefix))) continue;
    if (name !== 'cookie') passed.push(name, String(outer.headers[i + 1]));
  }
  const cookie = cookiesOf(headerOf(outer.headers, 'cookie'), cookies);
  const traceparent = traceparentOf(outer, outer.trace?.spanId ?? null);
  return [
    ...passed,
    ...headers,
    ...(cookie === '' ? [] : ['cookie', cookie]),
    ...(traceparent === null ? [] : ['traceparent', traceparent]),
    ...['x-request-id', outer.requestId],
    ...(given.has('accept') ? [] : ['accept', 'application/json, text/*;q=0.9, */*;q=0.8']),
    ...['accept-encoding', 'identity'],
    ...(body === null ? [] : ['content-type', body.contentType, 'content-length', String(body.bytes.length)]),
  ];
}

/** Returns the client's cookies, except for those that arguments set. */
function cookiesOf(sent: string | undefined, given: readonly string[]): string {
  if (sent === undefined) return given.join('; ');
  const nameOf = (pair: string) => pair.split('=', 1)[0]?.trim();
  const names = new Set(given.map(nameOf));
  const kept = sent.split(';').flatMap((pair) => (pair.trim() === '' || names.has(nameOf(pair)) ? [] : [pair.trim()]));
  return [...kept, ...given].join('; ');
}
