/** Turns an operation's answer into the result of a tool (Model Context Protocol, "Tool Result"). */
import { STATUS_CODES } from 'node:http';
import type { Operation } from '../artifact/format.ts';
import type { Tool } from '../artifact/tools.ts';
import { type Exchange, headerOf } from '../exchange.ts';
import { isJson, mediaTypeOf } from '../headers/media-type.ts';
import type { CapturedResponse } from '../own-request/captured-response.ts';
import { findingLine } from '../problems.ts';
import type { Era } from './protocol/era.ts';

export interface ServedTool {
  readonly tool: Tool;
  readonly operation: Operation;
}

interface AnswerCheck {
  /** Reports whether clients of an era have a schema of a tool's answers, and one that the value does not fit. */
  contradicts(served: ServedTool, value: unknown, era: Era): boolean;
}

export interface ToolResult {
  readonly content: readonly object[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
  readonly _meta?: object;
}

/** Member of `_meta` with the status that a plain HTTP request would have got. */
const STATUS = 'dev.gw/status';
const OTHER_TEXT = /^text\/|(\/|\+)(xml|yaml|x-yaml|javascript|x-www-form-urlencoded|x-ndjson|graphql)$/;

/** A refusal that the gateway makes itself. */
export function faultResult(message: string): ToolResult {
  return { content: [text(message)], isError: true };
}

/** `exchange`: the tool's own request, which has its answer. */
export function toolResult(
  served: ServedTool,
  exchange: Exchange,
  response: CapturedResponse,
  answers: AnswerCheck,
  era: Era,
): ToolResult {
  const { status, truncated } = response;
  const isError = status >= 400;
  const _meta = { [STATUS]: status };
  if (status === 0) return { ...faultResult('The operation gave no answer.'), _meta };
  const media = mediaTypeOf(headerOf(response.headers, 'content-type'));
  if (isError) return { content: [text(refusalText(exchange, response, media))], isError, _meta };
  if (response.aborted && !response.tooLong) return { ...faultResult('The answer broke off before its end.'), _meta };
  if (response.body.length === 0) return { ...checked(served, [text(emptyText(response))]), _meta };
  if (!isJson(media) || truncated || headerOf(response.headers, 'content-encoding') !== undefined) {
    return { ...otherResult(served, exchange, response, media), _meta };
  }
  return { ...jsonResult(served, response.body.toString('utf8'), answers, era), _meta };
}

function text(value: string): object {
  return { type: 'text', text: value };
}

/** Returns the refusal with the faults of arguments: the tool's schema has told the client as much. */
function refusalText(exchange: Exchange, response: CapturedResponse, media: string): string {
  const { status } = response;
  const line = `HTTP ${status}${STATUS_CODES[status] ? ` ${STATUS_CODES[status]}` : ''}`;
  const errors = (exchange.response.problem?.errors ?? []).map(findingLine);
  const body = isText(media) ? response.body.toString('utf8') : '';
  return [line, ...errors, body].filter((each) => each !== '').join('\n');
}

function emptyText({ status, headers }: CapturedResponse): string {
  const location = headerOf(headers, 'location');
  return `HTTP ${status}${STATUS_CODES[status] ? ` ${STATUS_CODES[status]}` : ''}${location ? `, location: ${location}` : ''}`;
}

function isText(media: string): boolean {
  return isJson(media) || OTHER_TEXT.test(media);
}

/** Returns a structured result if the value fits the schema; a client with a schema must get nothing else. */
function jsonResult(served: ServedTool, body: string, answers: AnswerCheck, era: Era): ToolResult {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return contradicting(served, body, undefined, answers, era);
  }
  if (answers.contradicts(served, value, era)) return contradicting(served, body, value, answers, era);
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return { content: [text(body)], ...(isObject || era === 'stateless' ? { structuredContent: value } : {}) };
}

function contradicting(served: ServedTool, body: string, value: unknown, answers: AnswerCheck, era: Era): ToolResult {
  if (!answers.contradicts(served, value, era)) return { content: [text(body)] };
  const { method, path } = served.operation;
  const why = `The call succeeded, but its answer is not what the description of ${method} ${path} says: do not repeat it.`;
  return { content: [text(why), text(body)], isError: true };
}

/** Returns text, pictures, sounds and other bytes. A long body is cut, or linked to its place. */
function otherResult(served: ServedTool, exchange: Exchange, response: CapturedResponse, media: string): ToolResult {
  const { body, truncated, headers } = response;
  const plain = headerOf(headers, 'content-encoding') === undefined;
  if (plain && isText(media)) {
    const rest = truncated ? [text(`The answer is longer: these are its first ${body.length} bytes.`)] : [];
    return checked(served, [text(body.toString('utf8')), ...rest]);
  }
  const mimeType = media === '' ? 'application/octet-stream' : media;
  const uri = uriOf(exchange);
  if (truncated) return checked(served, [{ type: 'resource_link', uri, name: served.tool.name, mimeType }]);
  const data = body.toString('base64');
  if (plain && mimeType.startsWith('image/')) return checked(served, [{ type: 'image', data, mimeType }]);
  if (plain && mimeType.startsWith('audio/')) return checked(served, [{ type: 'audio', data, mimeType }]);
  return checked(served, [{ type: 'resource', resource: { uri, mimeType, blob: data } }]);
}

/** A tool with an output schema cannot succeed with another output. */
function checked({ tool }: ServedTool, content: readonly object[]): ToolResult {
  return { content, ...(tool.output === undefined ? {} : { isError: true }) };
}

/** Returns the operation's URL for a request without MCP. */
function uriOf(exchange: Exchange): string {
  return `${exchange.scheme}://${headerOf(exchange.headers, 'host') ?? 'localhost'}${exchange.target}`;
}
