/** Staged parts of a plugin's next HTTP call, and the answer of the last one. */

import {
  addForwarded,
  BoundedMap,
  type Call,
  type CallState,
  CircuitBreaker,
  type Exchange,
  type HeaderList,
  HostCallError,
  type HttpAnswer,
  type HttpCaller,
  type Own,
  parseScanned,
  scanJson,
} from '../../../kit.ts';

/** State of this capability in an instance. */
export type HttpCallOwn = Own<HttpCaller, Breakers, CallOfPlugin>;

/** Reasons for not reading a body as JSON, which may be valid. */
export type Unread = 'no-room' | 'too-costly';

export class CallOfPlugin implements CallState {
  /** Goes with the next call; it never was in the plugin's memory. */
  passedBody: Uint8Array | null = null;
  /** The next call has the request's headers. */
  passesHeaders = false;
  /** The next call counts for the circuit breaker of its server, and does not begin while that is open. */
  breaks = false;
  /** Seconds until a call that did not begin could. */
  retryAfter = 0;
  answer: HttpAnswer | null = null;
  /** Headers for the client's answer, and their bytes. */
  response: { readonly headers: HeaderList; bytes: number } = { headers: [], bytes: 0 };
  /** The parsed body of the answer, set on first use. */
  #json: { readonly value: unknown; readonly unread: Unread | null } | null = null;
  /** The call under way, or made last. */
  #turn: object | null = null;

  /** Begins a call with the staged parts; returns the token that `received` knows it by. */
  begin(): object {
    this.end();
    this.#turn = {};
    return this.#turn;
  }

  /** The answer has come; it is kept if the call still waits for it. */
  received(turn: object, answer: HttpAnswer): HttpAnswer {
    if (turn === this.#turn) this.answer = answer;
    else answer.holding?.release();
    return answer;
  }

  end(): void {
    this.#turn = null;
    this.passedBody = null;
    this.passesHeaders = false;
    this.breaks = false;
    this.retryAfter = 0;
    this.answer?.holding?.release();
    this.answer = null;
    this.#json = null;
    this.response = { headers: [], bytes: 0 };
  }

  /** The call's own headers, which replace those of the request that have the same name. */
  headers(exchange: Exchange, own: HeaderList): HeaderList {
    if (!this.passesHeaders) return own;
    const names = new Set(own.filter((_, i) => i % 2 === 0));
    const passed: string[] = [];
    // Only a chain that a trusted proxy has sent tells of another client than the peer.
    addForwarded(passed, exchange, exchange.clientIp !== exchange.peer);
    return [...passed.filter((_, i) => !names.has(passed[i - (i % 2)] ?? '')), ...own];
  }

  answered(): HttpAnswer {
    if (this.answer === null) throw new HostCallError('host_http_call has no answer to read');
    return this.answer;
  }

  /** Returns the answer's body as JSON; undefined if it is malformed, repeats a member, or is `unread`. */
  json(call: Call): unknown {
    const answer = this.answered();
    if (this.#json === null) {
      call.charge(answer.body.length);
      this.#json = read(answer);
      if (this.#json.unread === 'too-costly') {
        const { services, name } = call.binding;
        services.log('warn', name, 'the answer of host_http_call takes too long to parse as JSON', call.request());
      }
    }
    return this.#json.value;
  }

  /** Returns null if the body was parsed, or is not JSON. */
  get unread(): Unread | null {
    return this.#json?.unread ?? null;
  }
}

function read({ body, holding }: HttpAnswer): { readonly value: unknown; readonly unread: Unread | null } {
  const scan = scanJson(body);
  if (scan.isTooCostly) return { value: undefined, unread: 'too-costly' };
  if (holding?.take(scan.heapBytes) === false) return { value: undefined, unread: 'no-room' };
  try {
    return { value: parseScanned(body, scan), unread: null };
  } catch {
    return { value: undefined, unread: null };
  }
}

/** Servers of one config; those beyond it that were called longest ago are forgotten. */
const MAX_SERVERS = 100;

/** The circuit breakers of a config, one for each server that its calls go to. */
export class Breakers {
  readonly #byOrigin = new BoundedMap<CircuitBreaker>(MAX_SERVERS);

  /** `url` is absolute, or no URL: then the call is refused before it begins. */
  of(url: string): CircuitBreaker {
    const origin = URL.parse(url)?.origin ?? '';
    const known = this.#byOrigin.use(origin);
    if (known) return known;
    const breaker = new CircuitBreaker();
    this.#byOrigin.set(origin, breaker);
    return breaker;
  }
}
