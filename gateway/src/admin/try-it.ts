/**
 * `/reference/try/…` of the admin port in development: passes a request of the reference page on to the traffic port,
 * so that the page needs no other origin and the gateway no CORS for it. Only that page can use it:
 * `AdminCallers.tryRefusal`.
 */
import { pipeline } from 'node:stream/promises';
import type { Dispatcher } from 'undici';
import { HOP_BY_HOP } from '../egress/forwarded-headers.ts';
import type { Exchange, HeaderList } from '../exchange.ts';
import { type Problem, problem } from '../problems.ts';
import { ByteCollector } from '../streams/byte-collector.ts';
import { messageOf } from '../text/message-of.ts';
import { BodyTooLarge } from '../transport/body.ts';
import { Agent } from '../undici.ts';
import { TRY_PATH } from './reference-paths.ts';

/** Bytes of a request's body. */
const MOST_BODY = 10 << 20;
/** Requests at once. */
const MOST_REQUESTS = 16;
/**
 * Header for cookies of the page, since pages cannot set `Cookie`. Cookies of other servers on this machine are not
 * sent.
 */
const COOKIE = 'x-scalar-cookie';
const NOT_SENT = new Set([...HOP_BY_HOP, 'host', 'content-length', 'expect', 'cookie', 'origin', 'referer', COOKIE]);
/** Headers that would change the page, its origin, or the state that the browser keeps for it. */
const NOT_RETURNED = new Set([
  ...HOP_BY_HOP,
  ...[
    'set-cookie',
    'strict-transport-security',
    'clear-site-data',
    'content-security-policy',
    'service-worker-allowed',
  ],
  ...['content-security-policy-report-only', 'x-content-type-options', 'cross-origin-resource-policy', 'refresh'],
]);
/** Headers that make the answer data for the page, never a page of this origin. */
const ADDED: HeaderList = [
  ...['content-security-policy', "sandbox; default-src 'none'", 'x-content-type-options', 'nosniff'],
  ...['cross-origin-resource-policy', 'same-origin'],
];

let running = 0;
let agent: Dispatcher | null = null;

/** Answers the exchange with the response of the traffic port at `origin`; resolves to a problem if it cannot. */
export async function tryIt(exchange: Exchange, origin: string): Promise<Problem | null> {
  if (running >= MOST_REQUESTS)
    return problem('rate-limited', `There are ${MOST_REQUESTS} requests in progress: try again.`);
  running++;
  const ended = new AbortController();
  exchange.onClose(() => ended.abort());
  try {
    const body = await bodyOf(exchange);
    if (body === null)
      return problem(
        'payload-too-large',
        `The reference page sends at most ${MOST_BODY} bytes, and no more than --max-body-size.`,
      );
    agent ??= new Agent({ headersTimeout: 0, bodyTimeout: 0 });
    const response = await agent.request({
      origin,
      path: `/${exchange.target.slice(TRY_PATH.length)}`,
      method: exchange.method as Dispatcher.HttpMethod,
      headers: sentHeaders(exchange.rawHeaders),
      body: body.length === 0 ? null : body,
      signal: ended.signal,
      responseHeaders: 'raw',
    });
    const sink = exchange.responder.stream(exchange, response.statusCode, returnedHeaders(response.headers, origin));
    await pipeline(response.body, sink).catch(() => {});
    return null;
  } catch (error) {
    return problem('upstream-failed', `The gateway did not answer: ${messageOf(error)}`);
  } finally {
    running--;
  }
}

/** Returns the body; null if it is longer than `MOST_BODY`. */
async function bodyOf({ bodyStream }: Exchange): Promise<Buffer | null> {
  const collected = new ByteCollector();
  try {
    for await (const chunk of (bodyStream ?? []) as AsyncIterable<Uint8Array>) {
      if (collected.length + chunk.length > MOST_BODY) return null;
      collected.add(chunk);
    }
  } catch (error) {
    // The port's own limit (`--max-body-size`) may be lower.
    if (error instanceof BodyTooLarge) return null;
    throw error;
  }
  return collected.takeWhole();
}

function sentHeaders(raw: HeaderList): string[] {
  const headers: string[] = [];
  for (let i = 0; i < raw.length; i += 2) {
    const name = (raw[i] ?? '').toLowerCase();
    if (!NOT_SENT.has(name) && !name.startsWith('sec-')) headers.push(name, raw[i + 1] ?? '');
    if (name === COOKIE) headers.push('cookie', raw[i + 1] ?? '');
  }
  return headers;
}

function returnedHeaders(received: unknown, origin: string): HeaderList {
  const raw = Array.isArray(received) ? received.map(String) : [];
  const headers: string[] = [];
  for (let i = 0; i < raw.length; i += 2) {
    const name = (raw[i] ?? '').toLowerCase();
    const value = raw[i + 1] ?? '';
    if (name === 'location') headers.push(name, locationOf(value, origin));
    else if (!NOT_RETURNED.has(name)) headers.push(name, value);
  }
  return [...headers, ...ADDED];
}

/**
 * Returns the page's own path for a redirect within the gateway; keeps other redirects, which the page cannot follow.
 */
function locationOf(location: string, origin: string): string {
  const url = URL.parse(location, `${origin}/`);
  if (url === null || url.origin !== origin) return location;
  return `${TRY_PATH}${url.pathname.slice(1)}${url.search}`;
}
