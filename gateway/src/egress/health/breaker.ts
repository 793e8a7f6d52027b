/**
 * The circuit breaker of an upstream (docs/reference/gateway.md#circuit-breaker: 503 while open). Closed: requests pass,
 * and so many failures in a row, each a connection that failed, an invalid answer or a time-out, open it. Open: requests
 * are refused until the cool-down is over. Half-open: one request goes through; its outcome closes or opens it again.
 *
 * A request can make an upstream slow or its answer invalid. So the failures of one client's network alone open the circuit
 * for that network, and for all only with those of others.
 */
import { clientNetwork } from '../../client-network.ts';

export interface BreakerOptions {
  /** Failures in a row that open it. Default 5. */
  readonly failures: number;
  /** Milliseconds that it stays open. Default 10 s. */
  readonly cooldownMs: number;
  /** It has opened for all. */
  readonly opened?: () => void;
  /** It has closed for all. */
  readonly closed?: () => void;
}

const DEFAULT_BREAKER: BreakerOptions = { failures: 5, cooldownMs: 10_000 };
/** Failures of one client's network that count for all. */
const MOST_OF_CLIENT = 2;
/** Networks with failures counted apart; the rest count as one. */
const MOST_CLIENTS = 100;

class Circuit {
  readonly #options: BreakerOptions;
  readonly #now: () => number;
  failures = 0;
  #openUntil = 0;
  #probing = false;

  constructor(options: BreakerOptions, now: () => number) {
    this.#options = options;
    this.#now = now;
  }

  /** It is open, or half-open. */
  get isOpen(): boolean {
    return this.failures >= this.#options.failures;
  }

  get refuses(): boolean {
    return this.isOpen && (this.#probing || this.#now() < this.#openUntil);
  }

  begin(): void {
    this.#probing = this.isOpen;
  }

  succeeded(): void {
    this.failures = 0;
    this.#probing = false;
  }

  /** Returns whether it has opened. */
  failed(): boolean {
    this.failures++;
    this.#probing = false;
    if (this.isOpen) this.#openUntil = this.#now() + this.#options.cooldownMs;
    return this.failures === this.#options.failures;
  }

  abandoned(): void {
    this.#probing = false;
  }

  get leftMs(): number {
    return this.isOpen ? this.#openUntil - this.#now() : 0;
  }
}

export class CircuitBreaker {
  readonly #options: BreakerOptions;
  readonly #now: () => number;
  readonly #all: Circuit;
  /** Circuits of networks whose requests have failed since the last success. */
  readonly #clients = new Map<string, Circuit>();

  constructor(options: BreakerOptions = DEFAULT_BREAKER, now: () => number = performance.now.bind(performance)) {
    this.#options = options;
    this.#now = now;
    this.#all = new Circuit(options, now);
  }

  /** Reports whether it is open for all. */
  get refuses(): boolean {
    return this.#all.refuses;
  }

  /** Reports whether it is open or half-open for all. */
  get isOpen(): boolean {
    return this.#all.isOpen;
  }

  /** Milliseconds until one request may probe; 0 or less if it may now, or the circuit is closed. */
  get leftMs(): number {
    return this.#all.leftMs;
  }

  /** Reports whether it is open for this client's network because of that network's own failures. */
  refusesClient(client: string): boolean {
    return this.#of(client)?.refuses ?? false;
  }

  /**
   * Reports whether a request may go; if so, `succeeded`, `failed` or `abandoned` must follow, with the same client.
   * `client`: the address on whose behalf it goes. Default: the gateway's own, whose failures count for all.
   */
  admits(client: string | null = null): boolean {
    const own = this.#of(client);
    if (this.#all.refuses || own?.refuses) return false;
    this.#all.begin();
    own?.begin();
    return true;
  }

  succeeded(): void {
    const hasClosed = this.#all.isOpen;
    this.#all.succeeded();
    if (hasClosed) this.#options.closed?.();
    if (this.#clients.size > 0) this.#clients.clear();
  }

  /** Returns whether it has opened, for this client or for all. */
  failed(client: string | null = null): boolean {
    if (client === null) return this.#failedForAll();
    const own = this.#of(client) ?? this.#add(client);
    const hasOpened = own.failed();
    if (own.failures <= MOST_OF_CLIENT) return this.#failedForAll() || hasOpened;
    this.#all.abandoned();
    return hasOpened;
  }

  #failedForAll(): boolean {
    const hasOpened = this.#all.failed();
    if (hasOpened) this.#options.opened?.();
    return hasOpened;
  }

  /** The client left before there was an outcome. */
  abandoned(client: string | null = null): void {
    this.#all.abandoned();
    this.#of(client)?.abandoned();
  }

  /** Seconds until it may be tried again, at least 1; for `Retry-After`. */
  retryAfter(client: string | null = null): number {
    const leftMs = Math.max(this.#all.leftMs, this.#of(client)?.leftMs ?? 0);
    return Math.max(1, Math.ceil(leftMs / 1000));
  }

  #of(client: string | null): Circuit | undefined {
    return client === null || this.#clients.size === 0 ? undefined : this.#clients.get(clientNetwork(client));
  }

  #add(client: string): Circuit {
    const name = this.#clients.size < MOST_CLIENTS ? clientNetwork(client) : '';
    const circuit = this.#clients.get(name) ?? new Circuit(this.#options, this.#now);
    this.#clients.set(name, circuit);
    return circuit;
  }
}
