/** HTTP calls of a plugin under test: answered by the stubs of a request, and never sent. */
import {
  type Exchange,
  type HttpAnswer,
  type HttpCall,
  HttpCallError,
  type HttpCaller,
} from '@gw/gateway/plugin-testing';
import type { HttpStub, RecordedHttpCall } from './kit.ts';
import { headerList, headerRecord } from './recorder.ts';

const MOST_REDIRECTS = 10;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

type SentCall = Pick<HttpCall, 'method' | 'url' | 'headers' | 'maxBytes' | 'redirects' | 'exchange'> & {
  readonly body?: unknown;
};

/** The stubs of one request, and the calls that were made for it. */
export class StubbedRequest {
  readonly calls: RecordedHttpCall[] = [];
  readonly unstubbed: RecordedHttpCall[] = [];
  readonly #stubs: readonly HttpStub[];
  readonly #used = new Set<HttpStub>();

  /** Throws if the URL of a stub is not absolute. */
  constructor(stubs: readonly HttpStub[]) {
    const bad = stubs.find(({ url }) => !URL.canParse(url));
    if (bad) throw new Error(`http stub: "${bad.url}" is not an absolute URL`);
    this.#stubs = stubs;
  }

  get unused(): readonly HttpStub[] {
    return this.#stubs.filter((stub) => !this.#used.has(stub));
  }

  /** Records the call, and returns its stub. Of several that match, each answers once, in order, and the last goes on. */
  take(call: RecordedHttpCall): HttpStub | null {
    this.calls.push(call);
    const matching = this.#stubs.filter((stub) => matches(stub, call));
    const found = matching.find((stub) => !this.#used.has(stub)) ?? matching.at(-1) ?? null;
    if (found === null) this.unstubbed.push(call);
    else this.#used.add(found);
    return found;
  }
}

function matches({ method, url }: HttpStub, call: RecordedHttpCall): boolean {
  if (method !== undefined && method.toUpperCase() !== call.method) return false;
  const [expected, actual] = [new URL(url), new URL(call.url)];
  return (
    expected.origin === actual.origin &&
    expected.pathname === actual.pathname &&
    (expected.search === '' || expected.search === actual.search)
  );
}

/** The port that capabilities make calls through. */
export class StubbedHttp implements HttpCaller {
  readonly #byExchange = new WeakMap<Exchange, StubbedRequest>();
  /** For calls that no request stands behind, such as those for key sets. */
  #latest: StubbedRequest = new StubbedRequest([]);

  /** Calls for this request are answered by these stubs. */
  expect(exchange: Exchange, stubs: readonly HttpStub[]): StubbedRequest {
    const request = new StubbedRequest(stubs);
    this.#byExchange.set(exchange, request);
    this.#latest = request;
    return request;
  }

  async call(call: HttpCall): Promise<HttpAnswer> {
    let url = absolute(call.url);
    let { method, body } = call;
    for (let left = Math.min(call.redirects ?? 0, MOST_REDIRECTS); ; left--) {
      const answer = await this.#once({ ...call, method, url: url.href, body: body ?? null });
      const location = REDIRECTS.has(answer.status) ? headerRecord(answer.headers)['location'] : undefined;
      if (location === undefined || left === 0) return answer;
      url = absolute(location, url);
      if (answer.status === 303 || (answer.status < 303 && method === 'POST')) {
        if (method !== 'HEAD') method = 'GET';
        body = null;
      }
    }
  }

  async open(call: Parameters<HttpCaller['open']>[0]): Promise<Awaited<ReturnType<HttpCaller['open']>>> {
    const { status, headers, body } = await this.#once({ ...call, url: absolute(call.url).href });
    return { status, headers, body: chunks(body), cancel: () => {} };
  }

  async upgrade({ url }: Parameters<HttpCaller['upgrade']>[0]): Promise<never> {
    throw new HttpCallError('refused', `${absolute(url).origin}: stubs cannot answer WebSocket handshakes`);
  }

  async #once(sent: SentCall): Promise<HttpAnswer> {
    const { method, url, headers = [], maxBytes = Number.POSITIVE_INFINITY, exchange } = sent;
    const request = (exchange && this.#byExchange.get(exchange)) ?? this.#latest;
    const call = { method, url, headers: headerRecord(headers), body: await textOf(sent.body) };
    const stub = request.take(call);
    const { origin } = new URL(url);
    if (stub === null) throw new HttpCallError('refused', `${origin}: no stub matches ${method} ${url}`);
    if (stub.fails !== undefined) throw new HttpCallError(stub.fails, `${origin}: its stub says "${stub.fails}"`);
    const body = Buffer.from(stub.json === undefined ? (stub.body ?? '') : JSON.stringify(stub.json));
    if (body.length > maxBytes) {
      throw new HttpCallError('too-large', `${origin} answered with more than ${maxBytes} bytes`);
    }
    const type = stub.json === undefined ? {} : { 'content-type': 'application/json' };
    return { status: stub.status ?? 200, headers: headerList({ ...type, ...lowerCase(stub.headers) }), body };
  }
}

function lowerCase(headers: HttpStub['headers'] = {}): NonNullable<HttpStub['headers']> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** Refuses URLs that the gateway's client refuses. */
function absolute(url: string, base?: URL): URL {
  const parsed = URL.parse(url, base?.href);
  if (parsed === null) throw new HttpCallError('refused', 'the URL is not a valid URL');
  if (parsed.protocol !== 'https:' && parsed.protocol !== 'http:') {
    throw new HttpCallError('refused', `${parsed.protocol} is not http: or https:`);
  }
  if (parsed.username !== '' || parsed.password !== '') {
    throw new HttpCallError('refused', `${parsed.origin} holds credentials in its URL: send them in a header`);
  }
  return parsed;
}

async function* chunks(body: Buffer): AsyncIterable<Buffer> {
  if (body.length > 0) yield body;
}

async function textOf(body: unknown): Promise<string> {
  if (body === undefined || body === null) return '';
  if (typeof body === 'string') return body;
  if (body instanceof Uint8Array) return Buffer.from(body).toString();
  const parts: Uint8Array[] = [];
  if (isIterable(body)) for await (const part of body) parts.push(Buffer.from(part));
  return Buffer.concat(parts).toString();
}

function isIterable(body: unknown): body is AsyncIterable<Uint8Array> {
  return typeof body === 'object' && body !== null && Symbol.asyncIterator in body;
}
