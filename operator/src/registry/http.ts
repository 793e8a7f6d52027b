/** One HTTP call to a registry, through the egress guard, with the retries that registries need. */
import {
  BufferBudget,
  type EgressGuard,
  type HttpAnswer,
  type HttpCall,
  HttpCallError,
  HttpClient,
} from '@gw/gateway/egress';
import { pause } from '../runtime/backoff.ts';
import { RegistryError } from './error.ts';

/** Rejects with RegistryError. */
export type Call = (call: HttpCall) => Promise<HttpAnswer>;

/** Maximum bytes of an artifact (its own format's limit), and of any other fetched file. */
export const MAX_BLOB_BYTES = 256 << 20;
/** Bytes of all answers that are being read. */
const MAX_HELD_BYTES = 768 << 20;
const ATTEMPTS = 4;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 15_000;

/** The two ways to speak to registries: over TLS, and in plain text with those that may. */
export class RegistryHttp {
  readonly #tls: HttpClient;
  readonly #plain: HttpClient;
  readonly #closed = new AbortController();

  constructor(guard: EgressGuard) {
    const options = { guard, maxResponseBytes: MAX_BLOB_BYTES, budget: new BufferBudget(MAX_HELD_BYTES) };
    this.#tls = new HttpClient({ ...options, allowPlaintext: false });
    this.#plain = new HttpClient({ ...options, allowPlaintext: true });
  }

  /** Aborts when the client is closed. */
  get closed(): AbortSignal {
    return this.#closed.signal;
  }

  async call(plain: boolean, call: HttpCall): Promise<HttpAnswer> {
    try {
      return await (plain ? this.#plain : this.#tls).call({ ...call, signal: this.closed });
    } catch (error) {
      throw registryError(error, plain);
    }
  }

  /** Ends running requests. */
  async close(): Promise<void> {
    this.#closed.abort();
    await Promise.all([this.#tls.close(), this.#plain.close()]);
  }
}

function registryError(error: unknown, plain: boolean): unknown {
  if (!(error instanceof HttpCallError)) return error;
  const cause = { cause: error };
  if (error.failure === 'too-large') return new RegistryError('too-large', error.message, cause);
  if (error.failure !== 'refused') return new RegistryError('unavailable', error.message, cause);
  // The gateway's own advice is about upstreams.
  const leadsToPlain = !plain && error.message.includes('is plaintext');
  const message = leadsToPlain
    ? `${error.message.split(' is plaintext')[0]} is plaintext: this registry may not redirect to it`
    : error.message;
  return new RegistryError('refused', message, cause);
}

/** Does it again while the registry is unavailable, with growing pauses or those that it asks for, until the signal. */
export async function patiently<T>(signal: AbortSignal, operation: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await operation();
    } catch (error) {
      if (!(error instanceof RegistryError) || error.failure !== 'unavailable' || attempt === ATTEMPTS) throw error;
      const ms = error.retryAfterMs ?? FIRST_PAUSE_MS * 4 ** (attempt - 1) * (0.5 + Math.random());
      if (ms > LONGEST_PAUSE_MS || signal.aborted) throw error;
      await pause(ms, signal);
    }
  }
}

/** Milliseconds of a `Retry-After` header: seconds or a date (RFC 9110, section 10.2.3). */
export function retryAfterMs(header: string | undefined, now = Date.now()): number | undefined {
  if (header === undefined) return undefined;
  const wait = /^\d{1,9}$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now;
  return Number.isFinite(wait) ? Math.max(0, wait) : undefined;
}
