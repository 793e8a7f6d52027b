/** Asks an operation whether a request may be passed on (`authorize`, docs/mcp.md#upstream-access): it takes the way of any request. */
import type { Operation } from '../artifact/format.ts';
import { headerOf } from '../exchange.ts';
import { CapturedResponse } from '../own-request/captured-response.ts';
import type { McpQuestion } from './client/client.ts';
import { ownExchange } from './own-exchange.ts';
import type { Refusal } from './refusal.ts';
import type { McpRequest } from './tool-methods.ts';

/** Bytes of a refusal. */
const MOST_REFUSAL = 64 << 10;

export interface AskedFor {
  readonly upstream: string;
  readonly question: McpQuestion;
}

/** Null: it may. */
export async function askAuthorizer(
  { exchange, toolbox, requests }: McpRequest,
  operation: Operation,
  { upstream, question }: AskedFor,
): Promise<Refusal | null> {
  const { method, params } = question;
  const about = JSON.stringify({ upstream, method, params });
  const body = operation.request_body ? { contentType: 'application/json', bytes: Buffer.from(about) } : null;
  const response = new CapturedResponse({ most: MOST_REFUSAL, cutsOff: true });
  const own = ownExchange(
    exchange,
    { method: operation.method, target: operation.path, headers: [], cookies: [], body },
    response,
  );
  const notClosing = exchange.onClose(() => response.abort(own));
  requests.serve(own);
  await response.ended;
  notClosing();
  const { status, headers } = response;
  if (status >= 200 && status < 300) return null;
  if (status < 400) return { status: 500, headers: [], body: Buffer.alloc(0) };
  const type = headerOf([...headers], 'content-type') ?? 'application/problem+json';
  const kept = headers.flatMap((name, i) => {
    const isKept = i % 2 === 0 && ['www-authenticate', 'retry-after'].includes(name.toLowerCase());
    const value = headers[i + 1] ?? '';
    if (!isKept) return [];
    return [
      name,
      name.toLowerCase() === 'www-authenticate' ? (toolbox.resource?.challenge(exchange, value, []) ?? value) : value,
    ];
  });
  return { status, headers: ['content-type', type, ...kept], body: response.body };
}
