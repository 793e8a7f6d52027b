/**
 * Fetches one file over HTTP for an interface of the compiler: through the egress guard, with limits
 * (docs/decisions.md#references-stay-inside).
 */
import type { Dispatcher } from 'undici';
import { createConnector } from '../egress/connector.ts';
import type { EgressGuard } from '../egress/guard.ts';
import { limitInformational } from '../egress/informational-limit.ts';
import { ByteCollector } from '../streams/byte-collector.ts';
import { messageOf } from '../text/message-of.ts';
import { Agent, request } from '../undici.ts';

export interface DownloadOptions {
  readonly guard: EgressGuard;
  /** Allows `http:`, also after a redirect. */
  readonly allowPlaintext: boolean;
  /** Called as bytes arrive, with how many there are. */
  readonly onProgress?: (bytes: number) => void;
  /** Milliseconds for the whole download, redirects included; default 120 s. */
  readonly timeoutMs?: number;
  /** Default 64 MiB. */
  readonly maxBytes?: number;
}

/** The download failed; the message names the URL and the reason. */
export class DownloadError extends Error {}

const CONNECT_TIMEOUT_MS = 10_000;
const MAX_REDIRECTS = 5;
const REDIRECTS = [301, 302, 303, 307, 308];

/** Rejects with DownloadError. */
export async function download(url: string, options: DownloadOptions): Promise<Buffer> {
  const { guard, timeoutMs = 120_000 } = options;
  const connect = createConnector({ guard, timeoutMs: CONNECT_TIMEOUT_MS });
  const agent = new Agent({ connect, pipelining: 0 }).compose(limitInformational);
  const signal = AbortSignal.timeout(timeoutMs);
  let at = url;
  try {
    for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
      const next = await fetchOnce(at, agent, signal, options);
      if (typeof next !== 'string') return next;
      at = next;
    }
    throw new DownloadError(`it redirects more than ${MAX_REDIRECTS} times`);
  } catch (error) {
    const reason = signal.aborted ? `it took more than ${timeoutMs / 1000} s` : messageOf(error);
    throw new DownloadError(`cannot fetch ${withoutQuery(at)}: ${reason}`, { cause: error });
  } finally {
    await agent.destroy();
  }
}

/** Returns the bytes, or the URL that it is redirected to. */
async function fetchOnce(
  url: string,
  dispatcher: Dispatcher,
  signal: AbortSignal,
  { allowPlaintext, onProgress, maxBytes = 64 << 20 }: DownloadOptions,
): Promise<Buffer | string> {
  const { protocol } = new URL(url);
  if (protocol !== 'https:' && !(protocol === 'http:' && allowPlaintext)) {
    const hint = protocol === 'http:' ? ' (--allow-plaintext permits http://)' : '';
    throw new DownloadError(`plugins are fetched over https://${hint}`);
  }
  const headers = { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'gw' };
  const { statusCode, headers: answered, body } = await request(url, { dispatcher, signal, headers });
  // A body that is not read to its end is cut off with the connection.
  body.on('error', () => {});
  if (REDIRECTS.includes(statusCode)) {
    const location = answered['location'];
    if (typeof location !== 'string' || !URL.canParse(location, url)) {
      throw new DownloadError(`it answers ${statusCode} without a location to redirect to`);
    }
    return new URL(location, url).href;
  }
  if (statusCode !== 200) throw new DownloadError(`it answers ${statusCode}`);
  if (Number(answered['content-length']) > maxBytes) throw new DownloadError(`it has more than ${maxBytes} bytes`);
  const collected = new ByteCollector();
  for await (const chunk of body) {
    if (collected.length + chunk.length > maxBytes) throw new DownloadError(`it has more than ${maxBytes} bytes`);
    collected.add(chunk);
    onProgress?.(collected.length);
  }
  return collected.takeWhole();
}

/** Tokens of signed URLs travel in the query. */
export function withoutQuery(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}
