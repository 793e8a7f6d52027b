/** A hand-off of a dispatcher: a request that the host proxies to an upstream. */
import type { Readable } from 'node:stream';
import type { Problem } from './problems.ts';

/** A connection target that the host owns, with its circuit breaker. Made at load, one for each upstream URL. */
export interface Upstream {
  /** Origin and path of the base URL, for messages. */
  readonly name: string;
}

/** The request of one attempt at an upstream. */
export interface UpstreamRequest {
  /** Path and query, that of the base URL included. */
  readonly path: string;
  /** Lower-case name and value in turn, with `host` and the body's framing. */
  readonly headers: string[];
  readonly body: Uint8Array | Readable | null;
  /** Scheme and authority to connect to. Default: those of the upstream. */
  readonly origin?: string;
}

/** A dispatcher's wish that the host proxies the request; the host owns both streams from then on. */
export interface HandOff {
  readonly upstream: Upstream;
  /** Path and query to send, after the base URL's own path. */
  readonly path: string;
  /** Milliseconds until the upstream's response head must have arrived. */
  readonly timeoutMs: number;
  /**
   * Makes the final request from the planned one, anew for each attempt. Default: unchanged. Rejects with NotSendable
   * if the request cannot be sent so.
   */
  readonly compose?: (request: UpstreamRequest) => Promise<UpstreamRequest>;
  /** Sent once, without a body, in place of an answer 404. Default: that is the answer. */
  readonly fallback?: HandOff;
  /** Set if the request becomes a WebSocket. Default: it does not. */
  readonly webSocket?: WebSocketLimits;
}

/** Why the gateway does not send a request to its upstream; its client gets the problem. */
export class NotSendable extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.title);
    this.problem = problem;
  }
}

/** Limits of an open WebSocket. */
export interface WebSocketLimits {
  /** Milliseconds without a byte from either side; 0: no limit. */
  readonly idleTimeoutMs: number;
  /** Bytes of a message as it travels. */
  readonly maxMessageBytes: number;
}
