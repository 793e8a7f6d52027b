/**
 * A client of MCP that calls one tool: in revision 2026-07-28 where the server speaks it, else in a session
 * (docs/mcp.md#revisions).
 */

import { SESSION_REVISIONS, STATELESS_REVISIONS } from '../mcp/era.ts';
import { messageOf } from '../message-of.ts';
import { readWhole } from '../read-whole.ts';
import { EventParser } from '../server-sent-events.ts';
import { get, isObject, type Obj } from '../spec/json.ts';
import { VERSION } from '../version.ts';

/** Bytes of an answer: a server may be anybody's. */
const MOST_ANSWER = 16 << 20;
const [STATELESS = ''] = STATELESS_REVISIONS;
const [NEWEST_WITH_SESSIONS = ''] = SESSION_REVISIONS;
const CLIENT = { name: 'gw', version: VERSION };

export interface McpServer {
  readonly url: string;
  /** Of each request, such as credentials. */
  readonly headers: readonly (readonly [string, string])[];
  /** For all requests together. */
  readonly signal: AbortSignal;
}

/** The server has refused: the message says how, and what it wants of who asks. */
export class McpRefusal extends Error {}

interface Received {
  readonly status: number;
  readonly headers: Headers;
  /** The message that answers the request; null where there is none. */
  readonly message: Obj | null;
  readonly text: string;
}

/** The result of the tool. Throws McpRefusal, and errors of the connection. */
export async function callRemoteTool(server: McpServer, name: string, args: Obj): Promise<Obj> {
  const discovered = await send(server, statelessMessage('server/discover', {}), statelessHeaders('server/discover'));
  const supported = get(get(discovered.message, 'result'), 'supportedVersions');
  if (Array.isArray(supported) && supported.includes(STATELESS)) {
    const headers = { ...statelessHeaders('tools/call'), 'mcp-name': headerText(name) };
    return resultOf(await send(server, statelessMessage('tools/call', { name, arguments: args }), headers));
  }
  // What is refused for lack of credentials would be in a session, too.
  if (discovered.status === 401 || discovered.status === 403) throw refusal(discovered);
  return inSession(server, (headers) =>
    send(server, { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name, arguments: args } }, headers),
  );
}

function statelessHeaders(method: string): Record<string, string> {
  return { 'mcp-protocol-version': STATELESS, 'mcp-method': method };
}

function statelessMessage(method: string, params: Obj): Obj {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': STATELESS,
    'io.modelcontextprotocol/clientInfo': CLIENT,
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  return { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } };
}

/** What is no plain ASCII is written in base64. */
function headerText(name: string): string {
  const plain = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(name) && !name.startsWith('=?base64?');
  return plain ? name : `=?base64?${Buffer.from(name).toString('base64')}?=`;
}

async function inSession(
  server: McpServer,
  call: (headers: Record<string, string>) => Promise<Received>,
): Promise<Obj> {
  const params = { protocolVersion: NEWEST_WITH_SESSIONS, capabilities: {}, clientInfo: CLIENT };
  const begun = await send(server, { jsonrpc: '2.0', id: 1, method: 'initialize', params }, {});
  const revision = get(resultOf(begun), 'protocolVersion');
  const session = begun.headers.get('mcp-session-id');
  const headers = {
    'mcp-protocol-version': typeof revision === 'string' ? revision : NEWEST_WITH_SESSIONS,
    ...(session === null ? {} : { 'mcp-session-id': session }),
  };
  await send(server, { jsonrpc: '2.0', method: 'notifications/initialized' }, headers);
  try {
    return resultOf(await call(headers));
  } finally {
    if (session !== null) await end(server, headers);
  }
}

/** Servers need not let clients end sessions. */
async function end(server: McpServer, own: Record<string, string>): Promise<void> {
  const { url, signal } = server;
  const init: RequestInit = { method: 'DELETE', headers: headersOf(server, own), redirect: 'error', signal };
  const answer = await fetch(url, init).catch(() => null);
  await answer?.body?.cancel();
}

/** The protocol's own win over given ones. */
function headersOf({ headers }: McpServer, own: Record<string, string>): Headers {
  const all = new Headers();
  for (const [name, value] of headers) all.append(name, value);
  for (const [name, value] of Object.entries(own)) all.set(name, value);
  return all;
}

async function send(server: McpServer, message: Obj, own: Record<string, string>): Promise<Received> {
  const { url, signal } = server;
  const given = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...own };
  let answer: Response;
  try {
    answer = await fetch(url, {
      method: 'POST',
      headers: headersOf(server, given),
      body: JSON.stringify(message),
      redirect: 'error',
      signal,
    });
  } catch (error) {
    const cause = error instanceof Error && error.cause !== undefined ? messageOf(error.cause) : messageOf(error);
    throw new Error(`${url} cannot be asked: ${cause}`, { cause: error });
  }
  const { status } = answer;
  if (/^text\/event-stream\b/i.test(answer.headers.get('content-type') ?? '')) {
    return { status, headers: answer.headers, text: '', message: await answerInStream(answer, message['id']) };
  }
  const text = (await readWhole(answer.body ?? empty(), MOST_ANSWER, tooLong)).toString('utf8');
  return { status, headers: answer.headers, text, message: objectIn(text) };
}

async function* empty(): AsyncGenerator<Uint8Array> {}

function tooLong(): Error {
  return new Error(`the answer is longer than ${MOST_ANSWER} bytes`);
}

/** Other messages, such as those of progress, may come before it. */
async function answerInStream(answer: Response, id: unknown): Promise<Obj | null> {
  const parser = new EventParser(MOST_ANSWER);
  const decoder = new TextDecoder();
  let length = 0;
  for await (const chunk of answer.body ?? empty()) {
    length += chunk.length;
    if (length > MOST_ANSWER) throw tooLong();
    for (const { data } of parser.push(decoder.decode(chunk, { stream: true }))) {
      const message = data === null ? null : objectIn(data);
      if (message !== null && message['id'] === id && message['method'] === undefined) return message;
    }
  }
  return null;
}

function objectIn(text: string): Obj | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** Throws McpRefusal. */
function resultOf(received: Received): Obj {
  const result = get(received.message, 'result');
  if (received.status < 300 && isObject(result)) return result;
  throw refusal(received);
}

function refusal({ status, headers, message, text }: Received): McpRefusal {
  const error = get(message, 'error');
  const said = get(error, 'message') ?? get(message, 'detail') ?? get(message, 'title') ?? text.slice(0, 200);
  const code = get(error, 'code');
  const challenge = headers.get('www-authenticate');
  const what = typeof code === 'number' ? `HTTP ${status}, JSON-RPC error ${code}` : `HTTP ${status}`;
  return new McpRefusal(`${what}: ${String(said)}${challenge === null ? '' : `\nWWW-Authenticate: ${challenge}`}`);
}
