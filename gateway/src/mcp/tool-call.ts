/**
 * Calls a tool: its arguments become a request, which goes through the pipeline as any other would
 * (docs/decisions.md#tool-calls).
 */
import { Exchange, type HeaderList, headerOf } from '../exchange.ts';
import { CapturedResponse } from '../own-request/captured-response.ts';
import { GivenBody } from '../own-request/given-body.ts';
import type { Obj } from '../spec/json.ts';
import { traceparentOf } from '../telemetry/trace-context.ts';
import { ToolFault } from './tool-fault.ts';
import { type ToolRequest, toolRequest } from './tool-request.ts';
import type { ServedTool } from './toolbox.ts';

/** Bytes of an answer: more would fill a model's context, and the gateway's memory. */
const MOST_ANSWER = 1 << 20;

/**
 * Headers of the MCP request that are its own: what describes its body and connection, what negotiates its answer, and
 * what its client's browser says of it. All others are passed on, and the operation admits those that it declares.
 */
const OWN = new Set([
  ...['content-type', 'content-length', 'content-encoding', 'transfer-encoding', 'expect', 'range', 'te', 'trailer'],
  ...['accept', 'accept-encoding', 'accept-charset', 'cache-control', 'pragma', 'upgrade', 'keep-alive', 'origin'],
  ...['last-event-id', 'x-request-id', 'traceparent', 'referer', 'connection'],
]);
const OWN_PREFIXES = ['if-', 'mcp-', 'sec-', 'access-control-'];

/** What the pipeline does for a tool. */
export interface OwnRequests {
  /** Sends a request through the pipeline. */
  serve(x: Exchange): void;
  /** The index of the operation that would serve it; undefined where none does. */
  operationOf(method: string, path: string): number | undefined;
}

export interface ToolAnswer {
  readonly x: Exchange;
  readonly response: CapturedResponse;
}

/** Throws ToolFault where the arguments make no request of the operation. */
export function callTool(outer: Exchange, served: ServedTool, args: Obj, requests: OwnRequests): ToolAnswer {
  const { tool, operation } = served;
  const request = written(() => toolRequest(tool, operation, args));
  const response = new CapturedResponse({ most: MOST_ANSWER, cutsOff: true });
  const x = new Exchange(response, {
    method: request.method,
    target: request.target,
    scheme: outer.scheme,
    headers: headersOf(outer, request),
    clientIp: outer.peer,
    body: request.body === null ? null : new GivenBody(request.body.bytes),
  });
  // An empty segment, or one that is another operation's own, leads elsewhere.
  if (requests.operationOf(x.method, x.path) !== operation.index) {
    throw new ToolFault(`The arguments make the path ${x.path}, which is not one of ${operation.path}.`);
  }
  x.clientCertificate = outer.clientCertificate;
  requests.serve(x);
  return { x, response };
}

function written(write: () => ToolRequest): ToolRequest {
  try {
    return write();
  } catch (error) {
    if (error instanceof RangeError) throw new ToolFault('The arguments are nested too deeply.');
    throw error;
  }
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
    ...['accept', 'application/json, text/*;q=0.9, */*;q=0.8', 'accept-encoding', 'identity'],
    ...(body === null ? [] : ['content-type', body.contentType, 'content-length', String(body.bytes.length)]),
  ];
}

/** Those of the client, but for those that arguments give. */
function cookiesOf(sent: string | undefined, given: readonly string[]): string {
  const nameOf = (pair: string) => pair.split('=', 1)[0]?.trim();
  const names = new Set(given.map(nameOf));
  const kept = (sent ?? '')
    .split(';')
    .flatMap((pair) => (pair.trim() === '' || names.has(nameOf(pair)) ? [] : [pair.trim()]));
  return [...kept, ...given].join('; ');
}
