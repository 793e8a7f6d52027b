/**
 * Connections to one origin. A request takes the one that was used last, or a new one: their number has no limit, that
 * of calls has (docs/decisions.md#own-http1-upstream).
 */
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { atEndOfTick } from '../../scheduling/end-of-tick.ts';
import { type Http1Request, type PreparedRequest, prepare } from './request-head.ts';
import { type ResponseHandler, UpstreamClosed } from './response-handler.ts';
import { type ConnectionOwner, UpstreamConnection } from './upstream-connection.ts';

/** A part of a URL. */
export interface ConnectTarget {
  readonly protocol: string;
  readonly hostname: string;
  /** Empty: that of the protocol. */
  readonly port: string;
}

/** Connects, with TLS for `https:`. */
export type Connector = (
  target: ConnectTarget,
  callback: (...outcome: [error: null, socket: Socket] | [error: Error, socket: null]) => void,
) => void;

export interface PoolOptions {
  readonly connect: Connector;
  /** Milliseconds for which connections are kept, unless the upstream says how long it keeps them. */
  readonly idleMs: number;
  /** The last connection is gone. */
  readonly emptied?: () => void;
}

export class ConnectionPool implements ConnectionOwner {
  readonly idleMs: number;
  readonly #origin: URL;
  readonly #options: PoolOptions;
  /** The one that was used last stands last. */
  #idle: UpstreamConnection[] = [];
  /** Connections that are open, or being opened. */
  #open = 0;
  #closed = false;

  /** `origin`: `http:` or `https:`; its path is not used. */
  constructor(origin: URL, options: PoolOptions) {
    this.idleMs = options.idleMs;
    this.#origin = origin;
    this.#options = options;
  }

  /** No connection is open, nor being opened. */
  get isEmpty(): boolean {
    return this.#open === 0;
  }

  /** Number of connections that wait for a request. */
  get idle(): number {
    return this.#idle.length;
  }

  /** Sends a request. Throws InvalidRequest; the handler gets all other errors. */
  dispatch(request: Http1Request, handler: ResponseHandler): void {
    const prepared = prepare(request, this.#origin.host);
    const kept = request.newConnection ? null : this.#take();
    if (kept !== null) kept.send(prepared, handler);
    else this.#connect(prepared, handler);
  }

  /** Closes idle connections; those in use end with their requests. */
  close(): void {
    this.#closed = true;
    for (const each of this.#idle.splice(0)) each.destroy();
  }

  #take(): UpstreamConnection | null {
    for (let last = this.#idle.pop(); last !== undefined; last = this.#idle.pop()) {
      if (last.isUsable && last.keptUntil > performance.now()) return last;
      last.destroy();
    }
    return null;
  }

  #connect(request: PreparedRequest, handler: ResponseHandler): void {
    this.#open++;
    // It may break off before there is a connection, on which it is looked at.
    if (request.body instanceof Readable) request.body.on('error', ignore);
    this.#options.connect(this.#origin, (error, socket) => {
      if (socket !== null && !socket.destroyed) return new UpstreamConnection(socket, this).send(request, handler);
      this.#left();
      handler.error(error ?? new UpstreamClosed());
    });
  }

  released(connection: UpstreamConnection, idleMs: number): void {
    connection.keptUntil = performance.now() + idleMs;
    if (released.push(connection) === 1 && rested.length === 0) atEndOfTick(turn);
  }

  rested(connection: UpstreamConnection): void {
    if (this.#closed || !connection.isUsable) return connection.destroy();
    if (this.#idle.push(connection) === 1) sweepLater(this);
  }

  closed(connection: UpstreamConnection): void {
    const at = this.#idle.lastIndexOf(connection);
    if (at !== -1) this.#idle.splice(at, 1);
    this.#left();
  }

  #left(): void {
    this.#open--;
    if (this.#open === 0) this.#options.emptied?.();
  }

  /** Closes connections whose time is over. Returns whether others are left. */
  sweep(now: number): boolean {
    const over = this.#idle.filter(({ keptUntil }) => keptUntil <= now);
    for (const each of over) each.destroy();
    return this.#idle.length > 0;
  }
}

/**
 * Connections that have answered in this turn of the event loop, and in the one before. They rest until the event loop
 * has read once more: bytes behind the answer, or the connection's end, may have arrived with it.
 */
let released: UpstreamConnection[] = [];
let rested: UpstreamConnection[] = [];

function turn(): void {
  for (const connection of rested) connection.owner.rested(connection);
  rested = released;
  released = [];
  if (rested.length > 0) atEndOfTick(turn);
}

/** Milliseconds between looks at idle connections; one that is due meanwhile is not used either. */
const SWEEP_MS = 1000;
/** Pools with idle connections. */
const swept = new Set<ConnectionPool>();

function sweepLater(pool: ConnectionPool): void {
  if (swept.size === 0) setTimeout(sweep, SWEEP_MS).unref();
  swept.add(pool);
}

function sweep(): void {
  const now = performance.now();
  for (const pool of swept) if (!pool.sweep(now)) swept.delete(pool);
  if (swept.size > 0) setTimeout(sweep, SWEEP_MS).unref();
}

function ignore(): void {}
