/** Publishes to one broker: within the limits of messages in flight, behind a circuit breaker, within a time limit. */

import { CircuitBreaker, firstLineOf, Outage, type OwnerPath, type Share } from '../../../kit.ts';
import type { Settled } from './idempotency.ts';
import { PublishError } from './publish-error.ts';

/** A kind of broker, with its own connections. */
export interface Broker<M, A> {
  /** `scheme://host:port`, for messages. */
  readonly name: string;
  /** Resolves when the broker has acknowledged the message. Settles always, if need be late. */
  send(message: M, timeoutMs: number): Promise<A>;
  close(): void;
}

export interface PublishTerms<A> {
  /** Bytes that the message holds while it waits. */
  readonly bytes: number;
  /** Owner that the bytes count for. */
  readonly owner: OwnerPath;
  readonly timeoutMs: number;
  /** Called when the outcome of the message is known, which may be after `timeoutMs`. */
  readonly settled?: Settled<A>;
}

export type PublisherLog = (level: 'info' | 'error', message: string) => void;

/** As for upstreams, but half the time, since a request for a connection waits for several attempts. */
const BREAKER = { failures: 5, cooldownMs: 5_000 };

export class Publisher<M, A> {
  readonly #broker: Broker<M, A>;
  readonly #share: Share;
  readonly #outage: Outage;
  readonly #breaker = new CircuitBreaker(BREAKER);
  #closing = false;

  constructor(broker: Broker<M, A>, share: Share, log: PublisherLog) {
    this.#broker = broker;
    this.#share = share;
    this.#outage = new Outage(broker.name, log);
  }

  /**
   * Resolves with the acknowledgement; rejects with PublishError, at the latest after `timeoutMs`.
   */
  async publish(message: M, { bytes, owner, timeoutMs, settled = () => {} }: PublishTerms<A>): Promise<A> {
    const giveBack = await this.#admit(bytes, owner, settled);
    const sent = this.#broker.send(message, timeoutMs).then(
      async (acknowledged) => {
        await settled(acknowledged);
        return acknowledged;
      },
      async (error: unknown) => {
        await settled(null);
        throw error;
      },
    );
    const ended = () => {
      giveBack();
      this.#closeWhenIdle();
    };
    sent.then(ended, ended);
    try {
      const acknowledged = await inTime(sent, timeoutMs, this.#broker.name);
      this.#breaker.succeeded();
      this.#outage.succeeded();
      return acknowledged;
    } catch (error) {
      throw this.#failed(error);
    }
  }

  /** Reserves room for the message; throws PublishError if room is lacking, or the circuit is open. */
  async #admit(bytes: number, owner: OwnerPath, settled: Settled<A>): Promise<() => void> {
    const { name } = this.#broker;
    if (!this.#breaker.admits()) {
      await settled(null);
      const retryAfter = this.#breaker.retryAfter();
      throw new PublishError('unavailable', `${name}: the circuit breaker is open`, { retryAfter });
    }
    const giveBack = this.#share.take(bytes, owner);
    if (giveBack !== null) return giveBack;
    this.#breaker.abandoned();
    await settled(null);
    throw new PublishError('full', `${name}: too many messages wait for it, or too many of this client`);
  }

  /** Ends its connections once no message is in flight. */
  close(): void {
    this.#closing = true;
    this.#closeWhenIdle();
  }

  #closeWhenIdle(): void {
    if (this.#closing && this.#share.messages === 0) this.#broker.close();
  }

  #failed(error: unknown): PublishError {
    const { name } = this.#broker;
    const failure =
      error instanceof PublishError
        ? error
        : new PublishError('failed', `${name}: ${firstLineOf(error)}`, { cause: error });
    if (failure.answered) this.#breaker.succeeded();
    // One loss fails many: whether there is another connection is for the next to find out.
    else if (failure.connectionLost) this.#breaker.abandoned();
    else {
      this.#breaker.failed();
      this.#outage.failed(failure.message);
    }
    return failure;
  }
}

function inTime<T>(work: Promise<T>, timeoutMs: number, name: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(
      () => reject(new PublishError('timeout', `${name}: no acknowledgement in ${timeoutMs} ms`)),
      timeoutMs,
    );
    work.then(resolve, reject).finally(() => clearTimeout(late));
  });
}
