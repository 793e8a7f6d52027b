/**
 * The neutral request and response: transport/ makes them from a connection's bytes, and the pipeline, the plugins and
 * the dispatchers see nothing else of it. One object per request, its fields filled as the request proceeds.
 */
import type { Duplex, Readable, Writable } from 'node:stream';
import type { Parameter, RequestBody, RoutesFile } from './artifact/format.ts';
import type { ClientCertificate } from './client-certificate.ts';
import type { CloseStatus } from './close-status.ts';
import type { HandOff, WebSocketLimits } from './hand-off.ts';
import type { BufferBudget, Holding } from './memory/buffer-budget.ts';
import { holdFor } from './memory/request-holding.ts';
import type { Problem, ProblemError } from './problems.ts';
import type { RequestTrace } from './spans/request-trace.ts';
import type { WebSocketFigures } from './web-socket-figures.ts';

/** Lower-case names at even places, values at odd ones; several values of a name stay several entries. */
export type HeaderList = string[];

/** Receives a body as it is read, without delaying it. */
export interface BodyCopy {
  chunk(bytes: Uint8Array): void;
  /** The body is complete. Not called if it breaks off. */
  whole(): void;
}

/** A request's body as it arrives. */
export interface BodyStream extends Readable {
  /** Bytes so far. */
  readonly received: number;
  /** Bytes past which it breaks off, because a plugin wants no more; by default Infinity. */
  readonly limit: number;
  /** The client has yet to send more of it, and the gateway would take it. */
  readonly waitsForClient: boolean;
  /** All of it has been read. */
  readonly isRead: boolean;
  /**
   * Returns the body at once, which counts as read then: it has arrived whole, is within its limits, and nobody has
   * begun to read it or wants a copy. Null otherwise.
   */
  takeWhole(): Uint8Array | null;
  /** Lowers `limit`. */
  limitTo(bytes: number): void;
  /** Has it copied as it arrives from now on. */
  copyTo(copy: BodyCopy): void;
}

/** Sink for a streaming response's body. */
export interface ResponseSink extends Writable {
  /** Ends with a body that is whole, as cheaply as the transport can. */
  endWith?(body: Uint8Array): void;
}

/** A client's request to switch to another protocol, on a connection that can. */
export interface UpgradeOffer {
  readonly protocol: 'websocket';
  /** The answer proves by the request's key that the server speaks it; HTTP/2 has no key (RFC 8441, section 5). */
  readonly keyed: boolean;
}

/**
 * The transport's functions for one request; the pipeline calls exactly one of `send`, `stream` and `upgrade`, once.
 */
export interface Responder {
  /** Sends a whole response. */
  send(exchange: Exchange, status: number, headers: HeaderList, body: Uint8Array | string | null): void;
  /** Sends the head, and returns the sink for the body. */
  stream(exchange: Exchange, status: number, headers: HeaderList): ResponseSink;
  /**
   * Sends an informational response (1xx) before the answer, if the client's protocol has them. Calls `received` when
   * it is no longer in memory, at the latest when the exchange closes.
   */
  inform?(exchange: Exchange, status: number, headers: HeaderList, received: () => void): void;
  /**
   * Answers that the protocol of `Exchange.upgrade` begins, and gives up the connection, or stream, behind that answer;
   * null if the client has gone. `stopping` is called when the gateway stops: the connection is to be ended, and is
   * cut when the time for that is up.
   */
  upgrade?(exchange: Exchange, headers: HeaderList, stopping: () => void): Duplex | null;
  /**
   * Calls back once when the gateway stops, soon if it is stopping already; returns the function that removes the
   * listener.
   */
  whenStopping?(listener: () => void): () => void;
  /** Fields behind a streamed body, set before its end; left out if the client does not take them (`TE`). */
  trailers?(fields: HeaderList): void;
  /** The response has begun. */
  readonly headSent: boolean;
  /** Cuts the connection (or resets the stream): the response can no longer be completed honestly. */
  abort(): void;
  /** Ends the request, since others need its memory: answers with 503, or cuts off an answer that has begun. */
  giveWay?(exchange: Exchange): void;
}

/** The matched operation of a request, as far as plugins may see it. */
export interface MatchedOperation {
  readonly path: string;
  readonly operationId: string | undefined;
  /** Slug of the API's title. */
  readonly api: string;
  /** Request headers that it admits beyond the baseline, lower case; `*` at the end makes a prefix. */
  readonly admitted: readonly string[];
  /** Names of path parameters, in the order of `Exchange.params`. */
  readonly paramNames: readonly string[];
  /** Null if its dispatcher does not answer from the description. */
  readonly examples: DescribedAnswers | null;
  /** Null if any message of a broker may reach its clients. */
  readonly streamed: DescribedMessages | null;
  /** Null once the artifact is no longer served. */
  readonly inputs: DescribedInputs | null;
}

/** Parameters and body of requests, as an API description has them. */
export interface DescribedInputs {
  readonly parameters: readonly Parameter[];
  /** Null: without a body. */
  readonly body: RequestBody | null;
  /** By id; references to them begin with `gw:`. */
  readonly schemas: RoutesFile['schemas'];
}

/** Messages as an API description has them. */
export interface DescribedMessages {
  /** Returns null if it is one of them. A message that takes too long to validate is refused. */
  errorsNow(message: Uint8Array): readonly ProblemError[] | null;
}

/** Answers that an API description is made into. */
interface DescribedAnswers {
  /** `status`: that of a config. Null if the description has no response for it. */
  answer(exchange: Exchange, status: number): Answer | null;
}

/** An answer that a plugin or the gateway has made. */
export type Answer =
  | { readonly status: number; readonly body: Uint8Array | string | null; readonly headers?: HeaderList }
  | { readonly problem: Problem };

/** A part of the host that a dispatcher lets answer: the instance is free, and the engine owns the rest. */
export interface Engine {
  /**
   * Calls `whole` or `bodyFailed` of the response once; or `relay`; or one of `head`, `endless` and `webSocket`, and,
   * if that succeeded, `done` or `broken`. Rejecting is a defect: 500.
   */
  answer(exchange: Exchange, response: EngineResponse): Promise<void>;
  /** The engine is not used after all: the request has got another answer. Default: nothing is released. */
  close?(): void;
}

/** An open WebSocket, with the counts of its traffic. */
export interface OpenWebSocket {
  readonly connection: Duplex;
  readonly figures: WebSocketFigures;
}

/** A WebSocket that an upstream has accepted, and the client's part of the answer. */
export interface AcceptedWebSocket {
  /** Headers of the upstream's answer, for the client. */
  readonly headers: HeaderList;
  readonly connection: Duplex;
  readonly limits: WebSocketLimits;
  /** Receives frames of the upstream as they pass, whose heads are never cut. Default: they are not read. */
  read?(frames: readonly Buffer[]): void;
  /** The WebSocket is open; `close` ends it, and sends both sides a close frame. */
  opened?(close: (closing: CloseStatus) => void): void;
}

/** The pipeline's handlers for the answer of an engine. */
export interface EngineResponse {
  whole(answer: Answer): Promise<void>;
  /**
   * The head is made. Returns the sink for the body, at once or when response hooks are done; null: the body is
   * dropped.
   */
  head(exchange: Exchange, status: number, headers: HeaderList): ResponseSink | Promise<ResponseSink | null>;
  /**
   * Like `head`, with status 200, for a body that has no end of its own. Resolves with false if the response does not
   * begin, also if plugins want the body whole: 501.
   */
  endless(exchange: Exchange, headers: HeaderList, begins: (sink: ResponseSink) => void): Promise<boolean>;
  /**
   * Accepts the client's handshake; resolves with false if it has got another answer, or has gone. `stopping`: see
   * `Responder.upgrade`.
   */
  webSocket(exchange: Exchange, stopping: () => void, begins: (opened: OpenWebSocket) => void): Promise<boolean>;
  /**
   * Relays a WebSocket between the client and an upstream that has accepted the handshake; false if the client has got
   * another answer, or has gone.
   */
  relay(exchange: Exchange, accepted: AcceptedWebSocket): Promise<boolean>;
  done(exchange: Exchange, bytes: number): void;
  /** The request's own body broke off on its way, before there was an answer. */
  bodyFailed(exchange: Exchange, error: Error): void;
  /** The head was sent, but the body broke off: the response cannot be completed. */
  broken(exchange: Exchange, cause: string): void;
}

/** How a plugin ended a request: with an answer of its own, by failing, or for lack of an instance. */
export type PluginDecision = 'answered' | 'failed' | 'overloaded';

export type HeaderOp = 'set' | 'add' | 'remove';
/** A change to response headers that a plugin staged before there was a response. */
export interface StagedHeader {
  readonly op: HeaderOp;
  readonly name: string;
  readonly value: string;
}

/** How a request has ended, as the access log has it. */
export interface EndedRequest {
  readonly exchange: Exchange;
  /** Method of the operation, as metrics have it. */
  readonly method: string;
  /** Path template, or `unmatched`. */
  readonly route: string;
  readonly api: string;
  readonly status: number;
  readonly seconds: number;
  /** Bytes of the bodies. */
  readonly requestBytes: number;
  readonly responseBytes: number;
}

/** State of a capability for a request, with its hooks for the response and the end. */
export interface RequestPart {
  /** The plugin, as it is bound, for which it acts: its place in the chain. Null without a plugin. */
  readonly owner: object | null;
  /** A body that it keeps and has answered with: plugins before `owner` see it as they see every body that streams. */
  readonly stored: Uint8Array | null;
  /** Set if it reads a body that streams past `owner`: puts itself before the sink. */
  readonly tap: ((sink: ResponseSink) => ResponseSink) | null;
  /** Members of the line in the access log, each with a comma before it; or empty. */
  readonly logged: string;
  /** Attributes of the request's span; asked when that ends. */
  spanAttributes?(): Readonly<Record<string, string>>;
  /** Reports whether the access log is to have no line of the request; asked after `finished`. */
  unlogged?(ended: EndedRequest): boolean;
  /** The request is valid, no middleware has answered it, and its dispatcher is next. */
  dispatched?(exchange: Exchange): void;
  /** The request has ended. */
  finished(ended: EndedRequest): void;
}

/** Thrown out of a plugin's wait when the request has got its answer meanwhile (an invalid body, a client that left). */
export class Interrupted extends Error {}

/** Counted if the client left, or stopped reading, before it had its answer. */
export const CLIENT_CLOSED = 499;

/** The response that is about to be sent: made by the pipeline, changed by response hooks. */
export class PendingResponse {
  /** Changes to its headers that plugins staged before it was there. */
  staged: StagedHeader[] | null = null;
  status = 0;
  headers: HeaderList = [];
  /** Bytes of headers that plugins have set. */
  headerBytes = 0;
  /** Null while it streams. */
  body: Uint8Array | string | null = null;
  /** The body is not in memory, but on its way from the upstream. */
  streams = false;
  /** Only the end of the upstream's connection marks the end of that body. */
  endsByClosing = false;
  /** The problem that it states, with all known details; null if it states no problem. */
  problem: Problem | null = null;
}

/** How a request is answered, for metrics, the access log and traces. */
class Outcome {
  /** The plugin that made the answer, or in whose call it was made; null if it is the upstream's, or the gateway's. */
  decidedBy: string | null = null;
  decision: PluginDecision = 'answered';
  /** Milliseconds from dispatch to the head of the answer; null without a dispatch or an answer. */
  dispatchMs: number | null = null;
}

export class Exchange {
  readonly method: string;
  /** Path and query as the client sent them. */
  readonly target: string;
  /** As sent, without the query; never decoded. */
  readonly path: string;
  /** Without `?`; undefined if absent. A plugin may remove parameters (`request_query_change`). */
  query: string | undefined;
  /** `http` or `https`. */
  readonly scheme: string;
  readonly responder: Responder;
  /** Address at the other end of the connection. */
  readonly peer: string;
  /** Address of the client (docs/decisions.md#client-address). */
  clientIp: string;
  /** Gateways that the request has come through, as it says. */
  hops = 0;
  /** Verified certificate of the client; null without one. */
  clientCertificate: ClientCertificate | null = null;
  /** Null if the client asks for no protocol that is spoken here, or its connection cannot leave HTTP. */
  upgrade: UpgradeOffer | null = null;
  /** Bytes that the client has sent in another protocol than HTTP. */
  receivedUpgraded = 0;
  /** Why the transport found the request malformed; it is answered with 400. */
  fault: string | null = null;
  /** Milliseconds, on the monotonic clock. */
  readonly startedAt = performance.now();
  /** As they arrived, names in any case; until admission `headers` is the same list. */
  readonly rawHeaders: HeaderList;
  /** After admission: the headers for plugins and upstreams, names in lower case. */
  headers: HeaderList;
  /** The request's body as it arrives; null if the request has no body. */
  bodyStream: BodyStream | null;
  /** Reads, limits and validates the body once; set by the pipeline. Rejects with `Interrupted` when `answer` says why. */
  readBody: () => Promise<Uint8Array>;
  /**
   * Called with the body as it was sent, before anything parses or validates it. Resolves with false if the body is
   * refused, and `answer` says why. Null: nothing inspects it.
   */
  inspectBody: ((body: Uint8Array) => Promise<boolean>) | null = null;
  /** The body in memory, once something has read or replaced it. */
  body: Uint8Array | null = null;
  /** Budget of the request's memory; null outside the pipeline. */
  memory: BufferBudget | null = null;
  /** Budget of responses in memory (`--max-held-response-bytes`); null outside the pipeline. */
  responseMemory: BufferBudget | null = null;
  #held: Holding | null = null;
  /**
   * Called before the body in memory is parsed as JSON: reports whether it is refused, with `answer`, because its
   * readers could differ (docs/decisions.md#one-reading). Content types other than JSON count if the caller parses them
   * all the same.
   */
  refusesJson: (ofAnyType: boolean) => boolean = refusesNothing;

  requestId = '';
  traceId = '';
  /** The caller's span, as `traceparent` names it, or one that represents it for the next hop; null without one. */
  parentSpanId: string | null = null;
  /** W3C trace flags that are passed on. */
  traceFlags = 0;
  /** Recorder of its spans; null if it is not traced. */
  trace: RequestTrace | null = null;
  operation: MatchedOperation | null = null;
  /** Values of the path parameters as the client sent them, and decoded. */
  sentParams: readonly string[] = [];
  params: readonly string[] = [];
  /** Steps that matching its parameters against patterns took. */
  patternSteps = 0;
  /** Messages between plugins; made on first use. */
  context: Map<string, string> | null = null;
  /** State of one plugin, as it is bound, between its hooks of this request. */
  states: Map<object, Map<string, Uint8Array>> | null = null;

  /** State of capabilities, each in a `RequestSlot` of its own; null if there is no state. */
  parts: (RequestPart | null | undefined)[] | null = null;

  answer: Answer | null = null;
  handOff: HandOff | null = null;
  /** Set if the dispatcher has handed the request off to a part of the host. */
  engine: Engine | null = null;

  readonly response = new PendingResponse();
  readonly outcome = new Outcome();

  /** The claims of its token are too long for `x-auth-claims`. */
  claimsLeftOut = false;

  /** The client has gone, or the response is complete: waiting is pointless. */
  closed = false;
  /**
   * Status to count if the transport ended the request by itself: 408, 400, 499 of a client that does not read; or 0.
   */
  closedWith = 0;
  #closeListeners: Set<() => void> | null = null;

  constructor(
    responder: Responder,
    request: {
      method: string;
      target: string;
      scheme: string;
      headers: HeaderList;
      clientIp: string;
      body: BodyStream | null;
    },
  ) {
    this.responder = responder;
    this.method = request.method;
    this.target = request.target;
    const mark = request.target.indexOf('?');
    this.path = mark < 0 ? request.target : request.target.slice(0, mark);
    this.query = mark < 0 ? undefined : request.target.slice(mark + 1);
    this.scheme = request.scheme;
    this.rawHeaders = request.headers;
    this.headers = request.headers;
    this.peer = request.clientIp;
    this.clientIp = request.clientIp;
    this.bodyStream = request.body;
    this.readBody = noBody;
  }

  /** Calls back when the client goes away or the response is complete; returns the function that takes it back. */
  onClose(listener: () => void): () => void {
    if (this.closed) {
      listener();
      return () => {};
    }
    this.#closeListeners ??= new Set();
    this.#closeListeners.add(listener);
    return () => this.#closeListeners?.delete(listener);
  }

  /**
   * Returns the request's holding in the budget, in its client's share, until it ends. `budget`: the same each time.
   */
  heldIn(budget: BufferBudget): Holding {
    if (this.#held !== null) return this.#held;
    const held = holdFor(budget, this);
    this.#held = held;
    this.onClose(() => held.release());
    return held;
  }

  /** Ends the request with 503, since others need its memory; an answer that has begun is cut off. */
  giveWay(): void {
    if (this.closed) return;
    if (this.responder.giveWay) this.responder.giveWay(this);
    else this.responder.abort();
  }

  /** Holds more bytes until the request ends. Returns false if there is no room for them. */
  holdMore(bytes: number): boolean {
    if (this.closed || this.memory === null) return true;
    return this.heldIn(this.memory).take(bytes);
  }

  /** Drops the answer once it has been sent. */
  forgetAnswer(): void {
    this.answer = null;
    this.response.body = null;
  }

  /** Whether the body must be read before the dispatcher may see it, since `inspectBody` asks for it. */
  get awaitsInspection(): boolean {
    return this.inspectBody !== null && this.bodyStream !== null;
  }

  /** Drops the references to its generation. `operation`: without parts of the generation. */
  outliveGeneration(operation: MatchedOperation | null): void {
    this.operation = operation;
    this.readBody = noBody;
    this.inspectBody = null;
    this.refusesJson = refusesNothing;
    this.states = null;
    this.engine = null;
    this.handOff = null;
  }

  /** Drops the headers once they are useless. */
  forgetHeaders(): void {
    this.rawHeaders.length = 0;
    this.headers = [];
  }

  decided(plugin: string | null, decision: PluginDecision = 'answered'): void {
    this.outcome.decidedBy = plugin;
    this.outcome.decision = decision;
  }

  /** Called by the transport, once; `status`: see `closedWith`. */
  close(status = 0): void {
    if (this.closed) return;
    this.closed = true;
    this.closedWith = status;
    const listeners = this.#closeListeners;
    this.#closeListeners = null;
    if (listeners) callEach(listeners);
  }
}

/** Calls all of them, also if one fails; throws the first failure then. */
function callEach(listeners: Iterable<() => void>): void {
  const failures: unknown[] = [];
  for (const listener of listeners) {
    try {
      listener();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}

/** The problem of an answer that is one. */
export function problemOf(answer: Answer | null): Problem | null {
  return answer !== null && 'problem' in answer ? answer.problem : null;
}

function refusesNothing(): boolean {
  return false;
}

function noBody(): Promise<Uint8Array> {
  return Promise.resolve(new Uint8Array(0));
}

/** The first value of a header, or undefined. */
export function headerOf(headers: HeaderList, name: string): string | undefined {
  for (let i = 0; i < headers.length; i += 2) if (headers[i] === name) return headers[i + 1];
  return undefined;
}

/** Returns all values of a header, joined as RFC 9110 section 5.3 says (cookies with `; `), or undefined. */
export function joinedHeader(headers: HeaderList, name: string): string | undefined {
  let value: string | undefined;
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i] !== name) continue;
    const next = headers[i + 1] as string;
    value = value === undefined ? next : `${value}${name === 'cookie' ? '; ' : ', '}${next}`;
  }
  return value;
}

/** Applies one change in place. */
export function changeHeader(headers: HeaderList, op: HeaderOp, name: string, value: string): void {
  if (op !== 'add') {
    let kept = 0;
    while (kept < headers.length && headers[kept] !== name) kept += 2;
    for (let i = kept + 2; i < headers.length; i += 2) {
      if (headers[i] === name) continue;
      headers[kept] = headers[i] as string;
      headers[kept + 1] = headers[i + 1] as string;
      kept += 2;
    }
    if (kept < headers.length) headers.length = kept;
  }
  if (op !== 'remove') headers.push(name, value);
}
