/** Asks the gateway's MCP endpoint, in revision 2026-07-28, as a request that the admin port traces. */
import { parseExactly } from '../src/json/exact-json.ts';
import { headerText } from '../src/mcp/client/header-text.ts';
import { headersOfArguments, parameterHeaders } from '../src/mcp/upstreams/parameter-headers.ts';
import { get, isObject, type JsonObject, type Obj } from '../src/spec/json.ts';
import { EventParser } from '../src/streams/server-sent-events.ts';
import type { TraceReport } from '../src/trace/report.ts';

const REVISION = '2026-07-28';
const META = 'io.modelcontextprotocol/';
/** Bytes of an answer that are shown. */
const MOST_BODY = 4 << 20;
const TIMEOUT_MS = 120_000;
/** Pages of a list. */
const MOST_PAGES = 100;

export type Headers = readonly (readonly [name: string, value: string])[];

export interface Tool extends Obj {
  readonly name: string;
}

export interface Answer {
  /** Null where the endpoint refused. */
  readonly result: Obj | null;
  /** Message of the refusal. */
  readonly refusal: string;
  /** Messages before the answer. */
  readonly messages: readonly Obj[];
  readonly report: TraceReport;
}

/** Throws where the gateway cannot be asked, or refuses. */
export async function listTools(): Promise<readonly Tool[]> {
  const tools: Tool[] = [];
  let cursor: unknown;
  for (let page = 0; page < MOST_PAGES; page++) {
    const { result, refusal } = await ask('tools/list', cursor === undefined ? {} : { cursor }, []);
    const listed = get(result, 'tools');
    if (!Array.isArray(listed)) throw new Error(refusal);
    tools.push(...listed.filter(isTool));
    cursor = get(result, 'nextCursor');
    if (cursor === undefined) break;
  }
  return tools;
}

/** Throws where the gateway cannot be asked. */
export function callTool({ name, inputSchema }: Tool, args: Obj, headers: Headers): Promise<Answer> {
  const repeated = isObject(inputSchema) ? parameterHeaders(inputSchema as JsonObject) : [];
  const own = typeof repeated === 'string' ? [] : pairs(headersOfArguments(repeated, args));
  const params = { name, arguments: args, _meta: { progressToken: 'call', [`${META}logLevel`]: 'info' } };
  return ask('tools/call', params, [...headers, ...own, ['mcp-name', headerText(name)]]);
}

async function ask(method: string, params: Obj, headers: Headers): Promise<Answer> {
  const own: Headers = [
    ['content-type', 'application/json'],
    ['accept', 'application/json, text/event-stream'],
    ['mcp-protocol-version', REVISION],
    ['mcp-method', method],
  ];
  const _meta = {
    ...(get(params, '_meta') as Obj | undefined),
    [`${META}protocolVersion`]: REVISION,
    [`${META}clientInfo`]: { name: 'gw inspector', version: '1' },
    [`${META}clientCapabilities`]: {},
  };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } });
  const request = { method: 'POST', target: '/__gw/mcp', headers: [...headers, ...own], body };
  const answer = await fetch('/trace', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...request, timeout_ms: TIMEOUT_MS, body_limit: MOST_BODY }),
  });
  const report: unknown = await answer.json();
  if (!answer.ok) throw new Error(String(get(report, 'detail') ?? get(report, 'title')));
  return answerOf(report as TraceReport);
}

function answerOf(report: TraceReport): Answer {
  const { response } = report;
  if (response.truncated) return { result: null, refusal: cutOff(report), messages: [], report };
  const streamed = response.headers.some(([name, value]) => name === 'content-type' && /event-stream/.test(value));
  const texts = streamed
    ? new EventParser(MOST_BODY).push(response.body).map(({ data }) => data ?? '')
    : [response.body];
  const messages = texts.map(objectIn).filter(isObject);
  const last = messages.at(-1);
  const result = get(last, 'result');
  return {
    result: isObject(result) ? result : null,
    refusal: refusalOf(report, last),
    messages: messages.filter((each) => get(each, 'method') !== undefined),
    report,
  };
}

function cutOff({ response, duration_ms }: TraceReport): string {
  return response.body_bytes > MOST_BODY
    ? `The answer has more than ${MOST_BODY} bytes.`
    : `There was no whole answer after ${Math.round(duration_ms)} ms.`;
}

function refusalOf({ response }: TraceReport, message: Obj | undefined): string {
  const error = get(message, 'error');
  const said = get(error, 'message') ?? get(message, 'detail') ?? get(message, 'title') ?? response.body.slice(0, 2000);
  const challenge = response.headers.find(([name]) => name.toLowerCase() === 'www-authenticate')?.[1];
  return `HTTP ${response.status}: ${String(said)}${challenge === undefined ? '' : `\nWWW-Authenticate: ${challenge}`}`;
}

function objectIn(text: string): unknown {
  try {
    return parseExactly(text);
  } catch {
    return null;
  }
}

function isTool(value: unknown): value is Tool {
  return typeof get(value, 'name') === 'string';
}

function pairs(headers: readonly string[]): Headers {
  return headers.flatMap((name, i): [string, string][] => (i % 2 === 0 ? [[name, headers[i + 1] ?? '']] : []));
}
