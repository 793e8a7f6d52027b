/** A server that takes deliveries: sends a call again while it cannot take it, and says once that it is away. */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type HttpCall,
  HttpCallError,
  type HttpCaller,
  headerOf,
  messageOf,
  Outage,
  retryAfterMs,
} from '../../../kit.ts';
import type { Delivered } from './figures.ts';

export type DeliveryLog = (level: 'info' | 'error', message: string) => void;

export interface TargetSettings {
  /** Milliseconds for one attempt. */
  readonly timeoutMs: number;
  /** Milliseconds from the first attempt to the begin of the last. 0: there is one. */
  readonly retryForMs: number;
}

/** Only the status of the answer is used; a connection with more behind it is closed. */
export const MAX_ANSWER = 64 << 10;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;
/** Statuses that say that the same call may succeed later. */
const LATER = new Set([408, 425, 429]);

/** Result of an attempt: null if another may succeed, at least `waitMs` after this one. */
interface Attempt {
  readonly outcome: Delivered | null;
  readonly waitMs: number;
  readonly reason: string;
}

export class Target {
  readonly #http: HttpCaller;
  readonly #settings: TargetSettings;
  readonly #url: URL;
  readonly #outage: Outage;

  /** `url`: called URL; its path may hold a token, so the log names its origin alone. */
  constructor(http: HttpCaller, url: URL, settings: TargetSettings, log: DeliveryLog) {
    this.#http = http;
    this.#settings = settings;
    this.#url = url;
    this.#outage = new Outage(url.origin, log);
  }

  /** Never rejects. */
  async deliver(call: Omit<HttpCall, 'timeoutMs'>, signal: AbortSignal): Promise<Delivered> {
    const until = performance.now() + this.#settings.retryForMs;
    for (let wait = FIRST_WAIT_MS; ; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
      const { outcome, waitMs, reason } = await this.#attempt(call, signal);
      if (outcome === 'sent') this.#outage.succeeded();
      else if (!signal.aborted) this.#outage.failed(reason);
      if (outcome !== null) return outcome;
      // Gateways that have lost the same target do not come back to it at the same moment.
      const pause = Math.max(waitMs, wait * (0.5 + Math.random() / 2));
      if (performance.now() + pause > until || !(await slept(pause, signal))) return 'failed';
    }
  }

  async #attempt(call: Omit<HttpCall, 'timeoutMs'>, signal: AbortSignal): Promise<Attempt> {
    const { timeoutMs } = this.#settings;
    try {
      const { status, headers } = await this.#http.call({
        ...call,
        timeoutMs,
        signal,
        discards: true,
        maxBytes: MAX_ANSWER,
      });
      const reason = `it answered with status ${status}`;
      if (status >= 200 && status < 300) return { outcome: 'sent', waitMs: 0, reason };
      if (status < 500 && !LATER.has(status)) return { outcome: 'failed', waitMs: 0, reason };
      return { outcome: null, waitMs: retryAfterMs(headerOf(headers, 'retry-after')) ?? 0, reason };
    } catch (error) {
      const isRefused = error instanceof HttpCallError && error.failure === 'refused';
      return { outcome: isRefused ? 'failed' : null, waitMs: 0, reason: reasonOf(error, this.#url) };
    }
  }
}

/** Returns the error for the log, without the path of the called URL. */
export function reasonOf(error: unknown, { origin, pathname }: URL): string {
  return messageOf(error).replaceAll(origin + pathname, origin);
}

/** Returns false if it was given up. */
async function slept(ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await sleep(ms, undefined, { signal, ref: false });
    return true;
  } catch {
    return false;
  }
}
