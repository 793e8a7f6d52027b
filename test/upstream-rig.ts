/** Connections to an upstream of bare bytes, and what comes back over them. */
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createConnector } from '../gateway/src/egress/connector.ts';
import { EgressGuard } from '../gateway/src/egress/guard.ts';
import { ConnectionPool, type PoolOptions } from '../gateway/src/egress/http1/connection-pool.ts';
import type { Http1Request } from '../gateway/src/egress/http1/request-head.ts';
import type { RequestController, ResponseHandler, ResponseHead } from '../gateway/src/egress/http1/response-handler.ts';
import type { HeaderList } from '../gateway/src/exchange.ts';
import { MisbehavingPeer } from './misbehaving-peer.ts';

type Moment = 'never' | 'hint' | 'head' | 'data';

/** The answer to one request, as it is received. */
export class RecordedAnswer implements ResponseHandler {
  /** Resolves with the answer when it is whole, or has switched protocols. */
  readonly whole: Promise<RecordedAnswer>;
  controller: RequestController | null = null;
  readonly hints: number[] = [];
  status = 0;
  headers: HeaderList = [];
  length = 0;
  endsByClosing = false;
  body = '';
  pieces = 0;
  trailers: HeaderList = [];
  connection: Duplex | null = null;
  readonly #settle: { resolve(answer: RecordedAnswer): void; reject(error: Error): void };
  readonly #pausedFrom: Moment;

  /** `pausedFrom`: pauses when that comes. */
  constructor(pausedFrom: Moment = 'never') {
    const { promise, resolve, reject } = Promise.withResolvers<RecordedAnswer>();
    this.whole = promise;
    // Not every test waits for it.
    promise.catch(() => {});
    this.#settle = { resolve, reject };
    this.#pausedFrom = pausedFrom;
  }

  start(controller: RequestController): void {
    this.controller = controller;
  }

  informational(status: number): void {
    this.hints.push(status);
    this.#pauseFrom('hint');
  }

  head({ status, headers, length, endsByClosing }: ResponseHead): void {
    this.status = status;
    this.headers = headers;
    this.length = length;
    this.endsByClosing = endsByClosing;
    this.#pauseFrom('head');
  }

  data(chunk: Buffer): void {
    this.body += chunk.toString('latin1');
    this.pieces++;
    this.#pauseFrom('data');
  }

  end(trailers: HeaderList): void {
    this.trailers = trailers;
    this.#settle.resolve(this);
  }

  upgrade(headers: HeaderList, connection: Duplex): void {
    this.status = 101;
    this.headers = headers;
    this.connection = connection;
    this.#settle.resolve(this);
  }

  error(error: Error): void {
    this.#settle.reject(error);
  }

  #pauseFrom(moment: Moment): void {
    if (this.#pausedFrom === moment) this.controller?.pause();
  }
}

export type RawRequest = Partial<Http1Request>;

export class UpstreamRig {
  readonly peer: MisbehavingPeer;
  readonly pool: ConnectionPool;

  private constructor(peer: MisbehavingPeer, options: Partial<PoolOptions>) {
    this.peer = peer;
    const guard = new EgressGuard({ allowInternal: false, allow: ['127.0.0.1'] });
    const connect = createConnector({ guard, timeoutMs: 10_000 });
    this.pool = new ConnectionPool(new URL(`http://${peer.address}`), { connect, idleMs: 60_000, ...options });
  }

  /** `serve` gets each connection, with its number from 1 on. */
  static async start(
    serve: (socket: Socket, number: number) => unknown,
    options: Partial<PoolOptions> = {},
  ): Promise<UpstreamRig> {
    let connections = 0;
    return new UpstreamRig(await MisbehavingPeer.start((socket) => serve(socket, ++connections)), options);
  }

  send(request: RawRequest, answer = new RecordedAnswer()): RecordedAnswer {
    this.pool.dispatch({ method: 'GET', path: '/', headers: [], body: null, upgrade: null, ...request }, answer);
    return answer;
  }

  get(request: RawRequest = {}): Promise<RecordedAnswer> {
    return this.send(request).whole;
  }

  close(): void {
    this.pool.close();
    this.peer.close();
  }
}

/** Answers each request, which has no body, with the same bytes. */
export function answering(text: string): (socket: Socket) => void {
  return (socket) => {
    socket.on('data', () => socket.write(text, 'latin1'));
  };
}

/** All that comes over a connection. */
export function received(socket: Socket): { text: string } {
  const all = { text: '' };
  socket.on('data', (bytes) => {
    all.text += bytes.toString('latin1');
  });
  return all;
}
