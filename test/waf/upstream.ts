/**
 * The server that the rule set's regression tests expect behind an engine (albedo): it answers a POST to `/reflect` as
 * the request's JSON says, and anything else with an empty 200.
 */
import type { RequestParts } from './corpus.ts';

export interface UpstreamAnswer {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
}

interface Reflection {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly encodedBody?: string;
}

const TEXT: readonly [string, string] = ['Content-Type', 'text/plain'];

export function answerOf({ method, target, body }: RequestParts): UpstreamAnswer {
  if (method !== 'POST' || !/^\/reflect\/?(\?|$)/.test(target)) return answer(200, [], Buffer.alloc(0));
  const reflection = reflectionOf(body);
  if (reflection === null) return answer(400, [], Buffer.from('Invalid JSON in request body'));
  const { status = 200, headers = {}, body: text, encodedBody = '' } = reflection;
  return answer(status, Object.entries(headers), text ? Buffer.from(text) : Buffer.from(encodedBody, 'base64'));
}

function answer(status: number, headers: [string, string][], body: Buffer): UpstreamAnswer {
  const typed = headers.some(([name]) => name.toLowerCase() === 'content-type');
  return { status, headers: typed ? headers : [TEXT, ...headers], body };
}

function reflectionOf(body: Buffer): Reflection | null {
  try {
    return JSON.parse(body.toString());
  } catch {
    return null;
  }
}
