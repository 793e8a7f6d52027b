/** Whole HTTP calls through the egress guard, for plugins and for the gateway's own requests. */
import { type Duplex, Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { type BodyStream, type Exchange, type HeaderList, headerOf } from '../exchange.ts';
import { holdsCredential } from '../headers/credential-names.ts';
import type { BufferBudget, Holding } from '../memory/buffer-budget.ts';
import { holdFor } from '../memory/request-holding.ts';
import { NO_SLOT } from '../memory/slots.ts';
import type { Span } from '../spans/span.ts';
import { ByteCollector } from '../streams/byte-collector.ts';
import { headerList, without, withTrace } from './call-headers.ts';
import { CallUnderWay } from './call-under-way.ts';
import type { EgressGuard } from './guard.ts';
import { failureOf, HttpCallError } from './http-call-error.ts';
import { type UpgradeAnswer, UpgradeCall, type UpgradeHandshake } from './upgrade-call.ts';
import { type UpstreamCall, type UpstreamCalls, UpstreamCallsCrowded } from './upstream-calls.ts';

export interface HttpCall {
  readonly method: string;
  /** Absolute, `http:` or `https:`. */
  readonly url: string;
  /** Lower-case name and value in turn. `host`, framing and trace headers are the gateway's. */
  readonly headers?: HeaderList;
  readonly body?: Uint8Array | string | null;
  /** Milliseconds for all of it, redirects included. */
  readonly timeoutMs: number;
  /** Bytes of the answer's body; the process's own limit holds too. */
  readonly maxBytes?: number;
  /** Redirects that are followed, each vetted as the first URL is. Default 0: they are answers. */
  readonly redirects?: number;
  /** The request that it is made for: its trace goes on in the call, which ends when its client leaves. */
  readonly exchange?: Exchange | null;
  /** The call goes on when the client of that request leaves, since others wait for it too. Default false. */
  readonly shared?: boolean;
  /** Ends it as failed. */
  readonly signal?: AbortSignal;
  /** Headers of a request that may have ended, without an `exchange`: `gw-hops`, and its trace. */
  readonly passing?: HeaderList;
  /** The answer's body is read and thrown away; past `maxBytes` its connection is ended instead. Default false. */
  readonly discards?: boolean;
  /** The answer's body counts in the budget until `HttpAnswer.holding` is released. Default false: until it is whole. */
  readonly holds?: boolean;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: HeaderList;
  readonly body: Buffer;
  /** Set if the call asked for it: values made from the body count in it, too. */
  readonly holding?: Holding;
}

/** A call for `open`; its answer's body is read as it comes. */
export type HttpStreamCall = Pick<
  HttpCall,
  'method' | 'url' | 'headers' | 'passing' | 'exchange' | 'shared' | 'signal'
> & {
  /** One that streams goes as its client sends it; it is given up when the call has ended. */
  readonly body?: HttpCall['body'] | BodyStream;
  /** `Content-Length` of a body that streams; undefined: it goes in chunks. */
  readonly contentLength?: string | undefined;
  /**
   * Milliseconds until the head of the answer is there, and then between pieces of its body; of a request's body that
   * streams, between its pieces as well, but for the time in which its client is waited for.
   */
  readonly timeoutMs: number;
  /** Milliseconds until the head, if less. Default: `timeoutMs`. */
  readonly headTimeoutMs?: number;
};

export interface HttpStream {
  readonly status: number;
  readonly headers: HeaderList;
  /** To be read to its end, once, or left; leaving it ends the call. Throws HttpCallError if it breaks off. */
  readonly body: AsyncIterable<Buffer>;
  /** Ends the call if its body has not been read. */
  cancel(): void;
}

export interface HttpClientOptions {
  readonly guard: EgressGuard;
  /** `--allow-plaintext-upstream`, or dev mode. */
  readonly allowPlaintext: boolean;
  /** `GW_MAX_UPSTREAM_RESPONSE_BYTES`. */
  readonly maxResponseBytes: number;
  /** Bytes in memory of answers that are not whole yet, together with responses that are held (`--max-held-response-bytes`). */
  readonly budget: BufferBudget;
  /** Counts calls for clients. Default: not counted. */
  readonly calls?: UpstreamCalls;
}

const NO_BODY = Buffer.alloc(0);
const MOST_REDIRECTS = 10;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** Headers of a body that a redirect has dropped. */
const OF_BODY = new Set(['content-type', 'content-length']);

/** Makes calls; the client of a process also closes. */
export type HttpCaller = Pick<HttpClient, 'call' | 'open' | 'upgrade'>;

export class HttpClient {
  readonly #options: HttpClientOptions;
  /** Null before the first call: many gateways make none, and undici takes 5 MB. */
  #agent: Promise<Dispatcher> | null = null;

  constructor(options: HttpClientOptions) {
    this.#options = options;
  }

  #dispatcher(): Promise<Dispatcher> {
    this.#agent ??= import('./agent.ts').then(({ createAgent }) => createAgent(this.#options.guard));
    return this.#agent;
  }

  /** Rejects with HttpCallError, which names the server and never a path, query, header or body. */
  async call(call: HttpCall): Promise<HttpAnswer> {
    const ended = new AbortController();
    const late = setTimeout(
      () => ended.abort(new HttpCallError('timeout', `no answer in ${call.timeoutMs} ms`)),
      call.timeoutMs,
    );
    const withdraw = (call.shared ? null : call.exchange)?.onClose(() =>
      ended.abort(new HttpCallError('failed', 'the client has gone')),
    );
    const stop = () => ended.abort(new HttpCallError('failed', 'it was given up'));
    if (call.signal?.aborted) stop();
    call.signal?.addEventListener('abort', stop);
    let at = this.#urlOf(call.url);
    const endPlace = this.#place(call, (error) => ended.abort(error));
    try {
      ended.signal.throwIfAborted();
      let { method, headers = [], body = null } = call;
      for (let left = Math.min(call.redirects ?? 0, MOST_REDIRECTS); ; left--) {
        const answer = await this.#once({ ...call, method, headers, body }, at, ended.signal);
        const location = REDIRECTS.has(answer.status) ? headerOf(answer.headers, 'location') : undefined;
        if (location === undefined || left === 0) return answer;
        answer.holding?.release();
        const next = this.#urlOf(location, at);
        // Fetch drops `Authorization` alone; plugins send keys in headers of any name.
        if (next.origin !== at.origin) headers = without(headers, holdsCredential);
        if (answer.status === 303 || (answer.status < 303 && method === 'POST')) {
          if (method !== 'HEAD') method = 'GET';
          body = null;
          headers = without(headers, (name) => OF_BODY.has(name));
        }
        at = next;
      }
    } catch (error) {
      throw failureOf(ended.signal.aborted ? ended.signal.reason : error, at);
    } finally {
      endPlace();
      clearTimeout(late);
      withdraw?.();
      call.signal?.removeEventListener('abort', stop);
    }
  }

  /**
   * Begins a call, whose answer is read as it comes; redirects are answers. It ends when the client of its request
   * leaves, unless it is `shared`. Rejects with HttpCallError as `call` does.
   */
  async open(call: HttpStreamCall): Promise<HttpStream> {
    const url = this.#urlOf(call.url);
    const under = new CallUnderWay(call, url);
    under.endPlace = this.#place(call, (error) => under.giveUp(error));
    const exchange = call.exchange ?? null;
    under.span = exchange?.trace?.call(call.method, url) ?? null;
    try {
      const agent = await this.#dispatcher();
      const body = under.sent(call.body ?? null);
      const request = this.#requestOf({ ...call, body: null }, url, under.span, under.signal);
      const { contentLength: length } = call;
      const framing = body instanceof Readable && length !== undefined ? ['content-length', length] : [];
      const response = await agent.request({ ...request, headers: [...request.headers, ...framing], body });
      under.span?.received(response.statusCode);
      under.headed();
      return {
        status: response.statusCode,
        headers: headerList(response.headers),
        body: under.read(response.body),
        cancel: () => under.cancel(response.body),
      };
    } catch (error) {
      throw under.failed(error);
    }
  }

  /**
   * Asks for the protocol of a handshake: resolves with its connection, or with the whole answer that takes its place.
   * `timeoutMs` is for all of it. Rejects with HttpCallError as `call` does, also if the answer is not a valid
   * handshake.
   */
  async upgrade(call: HttpStreamCall, handshake: UpgradeHandshake): Promise<UpgradeAnswer> {
    const url = this.#urlOf(call.url);
    const under = new CallUnderWay(call, url);
    let connection: Duplex | null = null;
    const endPlace = this.#place(call, (error) => {
      under.giveUp(error);
      connection?.destroy();
    });
    const exchange = call.exchange ?? null;
    under.span = exchange?.trace?.call(call.method, url) ?? null;
    const holding = holdFor(this.#options.budget, exchange);
    try {
      const request = this.#requestOf({ ...call, body: null }, url, under.span, under.signal);
      const answer = await new UpgradeCall(handshake, holding, under.signal).run(await this.#dispatcher(), request);
      under.span?.received(answer.status);
      under.end();
      if ('connection' in answer) {
        connection = answer.connection;
        connection.once('close', endPlace);
      } else endPlace();
      return answer;
    } catch (error) {
      endPlace();
      throw under.failed(error);
    } finally {
      holding.release();
    }
  }

  /**
   * Takes a place among the calls that clients wait for. Returns the function that releases it. `giveUp` ends the call:
   * at once if there is no place, or later for another client.
   */
  #place({ exchange }: Pick<HttpCall, 'exchange'>, giveUp: (error: Error) => void): () => void {
    const { calls } = this.#options;
    if (calls === undefined || !exchange) return () => {};
    const call: UpstreamCall = { clientIp: exchange.clientIp, slot: NO_SLOT, giveUp };
    if (calls.begin(call)) return () => calls.end(call);
    giveUp(new UpstreamCallsCrowded());
    return () => {};
  }

  #requestOf(
    call: HttpCall | (HttpStreamCall & { readonly body: null }),
    url: URL,
    span: Span | null,
    signal: AbortSignal,
  ): Dispatcher.RequestOptions & { origin: string; headers: string[] } {
    return {
      origin: url.origin,
      path: url.pathname + url.search,
      method: call.method as Dispatcher.HttpMethod,
      headers: withTrace(call, call.exchange ?? null, span),
      body: call.body ?? null,
      signal,
      headersTimeout: 0,
      bodyTimeout: 0,
    };
  }

  /** Closes idle connections now, and those in use when their calls have ended. */
  async close(): Promise<void> {
    await (await this.#agent)?.close();
  }

  #urlOf(text: string, base?: URL): URL {
    let url: URL;
    try {
      url = new URL(text, base);
    } catch {
      throw new HttpCallError('refused', 'the URL is not a valid URL');
    }
    const name = url.origin;
    if (url.protocol !== 'https:' && url.protocol !== 'http:') {
      throw new HttpCallError('refused', `${url.protocol} is not http: or https:`);
    }
    if (url.username !== '' || url.password !== '') {
      throw new HttpCallError('refused', `${name} holds credentials in its URL: send them in a header`);
    }
    if (url.protocol === 'http:' && !this.#options.allowPlaintext) {
      throw new HttpCallError(
        'refused',
        `${name} is plaintext: use https://, or allow it with --allow-plaintext-upstream`,
      );
    }
    return url;
  }

  async #once(call: HttpCall & { headers: HeaderList }, url: URL, signal: AbortSignal): Promise<HttpAnswer> {
    const exchange = call.exchange ?? null;
    const span = exchange?.trace?.call(call.method, url) ?? null;
    try {
      const agent = await this.#dispatcher();
      const response = await agent.request(this.#requestOf(call, url, span, signal));
      span?.received(response.statusCode);
      const most = Math.min(call.maxBytes ?? Number.POSITIVE_INFINITY, this.#options.maxResponseBytes);
      if (call.discards) {
        // The status is the answer, even if the body fails.
        await response.body.dump({ limit: most, signal }).catch(() => {});
        return { status: response.statusCode, headers: headerList(response.headers), body: NO_BODY };
      }
      const holding = holdFor(this.#options.budget, exchange);
      const body = await read(response, most, url, holding, call.holds === true);
      const answer = { status: response.statusCode, headers: headerList(response.headers), body };
      return call.holds ? { ...answer, holding } : answer;
    } catch (error) {
      span?.failed(failureOf(signal.aborted ? signal.reason : error, url).failure);
      throw error;
    } finally {
      span?.end();
    }
  }
}

async function read(
  { headers, body }: Dispatcher.ResponseData,
  most: number,
  url: URL,
  holding: Holding,
  holds: boolean,
): Promise<Buffer> {
  const tooLarge = () => new HttpCallError('too-large', `${url.origin} answered with more than ${most} bytes`);
  if (Number(headers['content-length']) > most) {
    body.on('error', () => {}).destroy();
    throw tooLarge();
  }
  const collected = new ByteCollector();
  let whole = false;
  try {
    for await (const chunk of body) {
      // Leaving the loop destroys the stream, and with it the connection.
      if (collected.length + chunk.length > most) throw tooLarge();
      if (!holding.take(chunk.length))
        throw new HttpCallError('no-room', 'the gateway has reached its limit of bytes in memory');
      collected.add(chunk);
    }
    whole = true;
    return collected.takeWhole();
  } finally {
    if (!whole || !holds) holding.release();
  }
}
